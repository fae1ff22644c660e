// What the double says on stderr. Tests look for PROBLEM and LEAK.
#pragma once

// The program did what no correct program does; a real driver might not have noticed.
__attribute__((format(printf, 1, 2))) void problem(const char* format, ...);
// Leaks and totals, when the process ends.
void report_at_exit();
