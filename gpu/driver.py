"""The CUDA driver through ctypes: the few calls that the constants need, with no library in between that adds to them."""

import ctypes
from ctypes import byref, c_char_p, c_int, c_size_t, c_uint, c_uint64, c_void_p

DEVICE_POINTER = c_uint64


class Driver:
    """The first device, with its primary context current in the calling thread."""

    def __init__(self, path="libcuda.so.1"):
        self.library = ctypes.CDLL(str(path))
        self.device = c_int()
        self.context = c_void_p()
        self("cuInit", c_uint(0))
        self("cuDeviceGet", byref(self.device), c_int(0))
        self("cuDevicePrimaryCtxRetain", byref(self.context), self.device)
        self("cuCtxSetCurrent", self.context)

    def __call__(self, name, *arguments):
        """One call; a failure is an exception with the driver's own word for it."""
        status = getattr(self.library, name)(*arguments)
        if status:
            word = c_char_p()
            self.library.cuGetErrorName(c_int(status), byref(word))
            raise RuntimeError(f"{name}: {(word.value or b'?').decode()} ({status})")

    def allocate(self, size):
        """Memory of the device."""
        pointer = DEVICE_POINTER()
        self("cuMemAlloc_v2", byref(pointer), c_size_t(size))
        return pointer

    def free(self, pointer):
        """Gives memory back."""
        self("cuMemFree_v2", pointer)

    def pinned(self, size):
        """Memory of the host that copies need not stage."""
        pointer = c_void_p()
        self("cuMemHostAlloc", byref(pointer), c_size_t(size), c_uint(0))
        return pointer

    def free_pinned(self, pointer):
        """Gives it back."""
        self("cuMemFreeHost", pointer)

    def stream(self):
        """A stream that does not wait for the default one."""
        stream = c_void_p()
        self("cuStreamCreateWithPriority", byref(stream), c_uint(1), c_int(0))
        return stream

    def event(self, timing):
        """An event; without timing it is what orders streams."""
        event = c_void_p()
        self("cuEventCreate", byref(event), c_uint(0 if timing else 2))
        return event

    def module(self, image):
        """Loads PTX, which translates it."""
        module = c_void_p()
        self("cuModuleLoadData", byref(module), c_char_p(image))
        return module
