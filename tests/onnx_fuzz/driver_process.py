"""driver_process.py -- the driver as a process that is fed models and answers; started again where one ends or hangs it.
SPDX-License-Identifier: Apache-2.0"""
import select
import struct
import subprocess

import numpy as np

RAN, REFUSED, WRONG, PART_OF_A_STEP = 0, 1, 2, 3


class DriverLost(Exception):
    pass


class Driver:
    def __init__(self, program, seconds=120):
        self.program, self.seconds, self.process = program, seconds, None

    def close(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None

    def ask(self, model, feeds, states, steps, batch, seed, walks, spoil=0, evaluate=0, portable=0, serial=0):
        if self.process is None:
            self.process = subprocess.Popen([self.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        try:
            request = self.request(model, feeds, states, steps, batch, seed, walks, spoil, evaluate, portable, serial)
            self.process.stdin.write(request)
            return self.answer()
        except (BrokenPipeError, EOFError) as error:
            code = self.process.wait()
            self.close()
            raise DriverLost(f"the driver ended with {code}") from error
        except TimeoutError as error:
            self.close()
            raise DriverLost(f"no answer in {self.seconds} s") from error

    @staticmethod
    def request(model, feeds, states, steps, batch, seed, walks, spoil, evaluate, portable, serial):
        def word(n):
            return struct.pack("<I", n)

        def text(s):
            data = s if isinstance(s, bytes) else s.encode()
            return word(len(data)) + data

        out = [word(n) for n in (seed & 0xFFFFFFFF, walks, spoil, evaluate, portable, serial, steps, batch, len(states))]
        out += [text(s) for pair in states for s in pair]
        out += [text(model), word(len(feeds))]
        for name, array in feeds.items():
            array = np.asarray(array)
            data = array.astype(np.float32 if array.dtype.kind == "f" else np.int32)
            out += [text(name), word(int(data.dtype == np.int32)), word(data.ndim)] + [word(d) for d in data.shape] + [data.tobytes()]
        return b"".join(out)

    def read(self, count):
        parts = []
        while count > 0:
            ready, _, _ = select.select([self.process.stdout], [], [], self.seconds)
            if not ready:
                raise TimeoutError
            part = self.process.stdout.read(min(count, 1 << 20))
            if not part:
                raise EOFError
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def word(self):
        return struct.unpack("<I", self.read(4))[0]

    def text(self):
        return self.read(self.word()).decode(errors="replace")

    def answer(self):
        verdict, message, causal = self.word(), self.text(), bool(self.word())
        outputs, evaluated = {}, {}
        for _ in range(self.word()):
            name = self.text()
            shape = [self.word() for _ in range(self.word())]
            outputs[name] = np.frombuffer(self.read(4 * int(np.prod(shape, dtype=np.int64))), np.float32).reshape(shape)
        for _ in range(self.word()):
            name = self.text()
            evaluated[name] = np.frombuffer(self.read(8 * self.word()), np.float64)
        return verdict, message, causal, outputs, evaluated
