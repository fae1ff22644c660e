// The kernels' shared memory: one set of static variables, used by one block after another.
#pragma once

// Fills it with `rubbish`: shared memory is undefined when a block starts.
void spoil_shared_memory(unsigned char rubbish);
// For ThreadSanitizer: the memory of the next grid is not the previous one's.
void renew_shared_memory();
