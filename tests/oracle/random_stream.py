# SPDX-License-Identifier: Apache-2.0
"""The random numbers of core/rng.h, from its description."""


class Stream:
    """Number n of stream (seed, stream) is a pure function of the three."""

    MASK = 2**64 - 1
    GOLDEN = 0x9E3779B97F4A7C15

    def __init__(self, seed, stream):
        self.key = self.mix(seed ^ self.mix((stream + self.GOLDEN) & self.MASK))
        self.counter = 0

    @classmethod
    def mix(cls, x):
        x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & cls.MASK
        x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & cls.MASK
        return x ^ (x >> 31)

    def at(self, n):
        position = self.mix((n * self.GOLDEN + self.GOLDEN) & self.MASK)
        return self.mix((self.key + position) & self.MASK)

    def below(self, bound):
        n = self.counter
        self.counter += 1
        return (self.at(n) * bound) >> 64
