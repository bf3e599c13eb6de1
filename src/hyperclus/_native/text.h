// Codes of texts in order of first appearance, by a hash table that stays from batch to batch.
//
// Texts are UTF-8, one after the other; `offsets` are their ends, after the begin of the first. A slot of the table is
// 0, or half of a hash and a code plus 1. `mask` is the number of slots, a power of 2, less 1.

INLINE uint64_t mixed(uint64_t a, uint64_t b) {
    unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
    return uint64_t(product) ^ uint64_t(product >> 64);
}

INLINE uint64_t hash_of(const uint8_t* text, int64_t size, uint64_t seed) {
    const uint64_t first = 0x9e3779b97f4a7c15, second = 0xd1b54a32d192ed03;
    uint64_t found = seed ^ mixed(uint64_t(size) ^ first, second), word;
    for (; size >= 8; text += 8, size -= 8) {
        memcpy(&word, text, 8);
        found = mixed(found ^ word, first);
    }
    word = 0;
    memcpy(&word, text, size);
    return mixed(found ^ word, second ^ seed);
}

INLINE int64_t slot_of(uint64_t hash, int64_t code) {
    return int64_t((hash & 0xffffffff00000000) | uint64_t(code + 1));
}

// Enter known texts into a table that is empty.
EXPORT void enter_texts(const int64_t* offsets, const uint8_t* text, int64_t count, int64_t seed, int64_t* slots,
                        int64_t mask) {
    for (int64_t code = 0; code < count; code++) {
        uint64_t hash = hash_of(text + offsets[code], offsets[code + 1] - offsets[code], uint64_t(seed));
        int64_t place = int64_t(hash) & mask;
        while (slots[place] != 0) place = (place + 1) & mask;
        slots[place] = slot_of(hash, code);
    }
}

static const int64_t TEXTS_AHEAD = 32;  // whose memory is fetched before it is needed

// The codes of texts; new ones are added to the known ones, for which there must be room. How many are known then.
EXPORT int64_t text_codes(const int64_t* offsets, const uint8_t* text, int64_t count, int64_t seed, int64_t* slots,
                          int64_t mask, int64_t* known_offsets, uint8_t* known_text, int64_t n_known, int32_t* codes) {
    uint64_t hashes[TEXTS_AHEAD];
    for (int64_t number = 0; number < count; number++) {
        int64_t turn = number % TEXTS_AHEAD;
        if (turn == 0) {
            int64_t end = count - number < TEXTS_AHEAD ? count - number : TEXTS_AHEAD;
            const int64_t* ends = offsets + number;
            for (int64_t next = 0; next < end; next++) {
                hashes[next] = hash_of(text + ends[next], ends[next + 1] - ends[next], uint64_t(seed));
                __builtin_prefetch(slots + (int64_t(hashes[next]) & mask), 1);
            }
            for (int64_t next = 0; next < end; next++)
                if (uint32_t code = uint32_t(slots[int64_t(hashes[next]) & mask]))
                    __builtin_prefetch(known_offsets + code - 1);
            for (int64_t next = 0; next < end; next++)
                if (uint32_t code = uint32_t(slots[int64_t(hashes[next]) & mask]))
                    __builtin_prefetch(known_text + known_offsets[code - 1]);
        }
        const uint8_t* one = text + offsets[number];
        int64_t size = offsets[number + 1] - offsets[number], code = -1;
        uint64_t hash = hashes[turn];
        for (int64_t place = int64_t(hash) & mask; code < 0; place = (place + 1) & mask) {
            uint64_t slot = uint64_t(slots[place]);
            if (slot == 0) {
                code = n_known++;
                memcpy(known_text + known_offsets[code], one, size);
                known_offsets[code + 1] = known_offsets[code] + size;
                slots[place] = slot_of(hash, code);
            } else if ((slot >> 32) == (hash >> 32)) {
                int64_t other = int64_t(slot & 0xffffffff) - 1, start = known_offsets[other];
                if (known_offsets[other + 1] - start == size && memcmp(known_text + start, one, size) == 0) code = other;
            }
        }
        codes[number] = int32_t(code);
    }
    return n_known;
}
