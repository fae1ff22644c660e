//! nvJPEG as C declares it, opened at run time.
