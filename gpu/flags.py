"""What nvJPEG says it supports, asked directly: for each backend and each set of flags, which kinds of file."""

import ctypes
from ctypes import byref, c_char_p, c_int, c_size_t, c_uint, c_void_p

import driver
import kit

# nvjpegBackend_t, and how nvJPEG is asked about a file: of the batched decoder, or of a decoder of its own.
BACKENDS = {"hardware": 3, "gpu-huffman": 2, "hybrid": 1}
# As nvjpeg.h has them; upsampling with interpolation is what libjpeg-turbo does.
UPSAMPLING_WITH_INTERPOLATION, STRICT = 4, 32
FLAGS = {UPSAMPLING_WITH_INTERPOLATION | STRICT: "interpolation, strict", STRICT: "strict",
         UPSAMPLING_WITH_INTERPOLATION: "interpolation", 0: "none"}
RGB_INTERLEAVED = 5
PART = (16, 16, 64, 64)


class Nvjpeg:
    """One handle."""

    def __init__(self, library, backend, flags):
        self.library, self.backend = library, backend
        self.handle = c_void_p()
        self.call("nvjpegCreateEx", c_int(backend), None, None, c_uint(flags), byref(self.handle))

    def call(self, name, *arguments):
        """One call; a status other than 0 is an exception."""
        status = getattr(self.library, name)(*arguments)
        if status:
            raise RuntimeError(f"{name}: status {status}")

    def takes(self, data, part):
        """Whether it says that it would decode a file, or a part of it."""
        stream, parameters, decoder = c_void_p(), c_void_p(), c_void_p()
        answer = c_int(-1)
        self.call("nvjpegJpegStreamCreate", self.handle, byref(stream))
        self.call("nvjpegJpegStreamParse", self.handle, c_char_p(data), c_size_t(len(data)), c_int(0), c_int(0), stream)
        self.call("nvjpegDecodeParamsCreate", self.handle, byref(parameters))
        self.call("nvjpegDecodeParamsSetOutputFormat", parameters, c_int(RGB_INTERLEAVED))
        if part:
            self.call("nvjpegDecodeParamsSetROI", parameters, *map(c_int, PART))
        try:
            if self.backend == BACKENDS["hardware"]:
                self.call("nvjpegDecodeBatchedSupportedEx", self.handle, stream, parameters, byref(answer))
            else:
                self.call("nvjpegDecoderCreate", self.handle, c_int(self.backend), byref(decoder))
                self.call("nvjpegDecoderJpegSupported", decoder, stream, parameters, byref(answer))
                self.call("nvjpegDecoderDestroy", decoder)
        finally:
            self.call("nvjpegDecodeParamsDestroy", parameters)
            self.call("nvjpegJpegStreamDestroy", stream)
        return answer.value == 0  # nvJPEG's 0 means yes


def ask(section, folders):
    """One row for each backend and set of flags: the kinds that it takes whole, and in part."""
    context = driver.Driver(kit.driver(section.simulated))
    library = ctypes.CDLL(str(kit.nvjpeg(section.simulated)))
    for word, backend in BACKENDS.items():
        for flags, names in FLAGS.items():
            row = {"backend": word, "flags": names, "whole": [], "part": [], "why": None}
            try:
                nvjpeg = Nvjpeg(library, backend, flags)
                for folder in folders:
                    with open(kit.files_of(folder)[0], "rb") as file:
                        data = file.read()
                    for part in (False, True):
                        if nvjpeg.takes(data, part):
                            row["part" if part else "whole"].append(folder.name)
                nvjpeg.call("nvjpegDestroy", nvjpeg.handle)
            except RuntimeError as error:
                row["why"] = str(error)
            section.add("flags", row)
    context("cuCtxSynchronize")
