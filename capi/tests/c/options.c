/* Sets options and prints what a loader would be opened with: `options FILE`, where each line of FILE is a recipe's path,
 * then names and values, all apart by tabs. */

#include "common.h"

int main(int count, char **arguments) {
    CHECK(count == 2);
    FILE *file = fopen(arguments[1], "r");
    char line[4096];
    CHECK(file);
    while (fgets(line, sizeof line, file)) {
        feedline_options *options;
        char *text, *word = strtok(line, "\t\n");
        OK(feedline_options_new(&options));
        OK(feedline_options_set(options, "recipe", word));
        while ((word = strtok(NULL, "\t\n"))) {
            char *value = strtok(NULL, "\t\n");
            CHECK(value);
            OK(feedline_options_set(options, word, value));
        }
        OK(feedline_options_text(options, &text));
        printf("%s\n---\n", text);
        feedline_string_free(text);
        feedline_options_free(options);
    }
    fclose(file);
    return 0;
}
