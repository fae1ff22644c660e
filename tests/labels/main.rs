//! Labels: read from the files of data sets, and moved as the pixels are.

mod files;
mod moves;
