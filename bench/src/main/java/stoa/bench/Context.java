package stoa.bench;

import java.nio.file.Path;
import java.util.function.Consumer;

/// Where and how much a benchmark measures.
///
/// @param folder an empty folder for its files, on the disk that is measured
/// @param scale how long and how large
/// @param progress is told, in a few words, what is being measured now
public record Context(Path folder, Scale scale, Consumer<String> progress) {}
