package stoa.bench.report;

import java.nio.file.Path;
import java.util.function.Consumer;
import stoa.bench.load.Scale;

/// Where and how much a benchmark measures.
///
/// @param <S> the type of the benchmark's own sizes
/// @param folder an empty folder for the benchmark's files, on the disk that is measured
/// @param scale how long each load runs
/// @param sizes the benchmark's own sizes
/// @param progress is told, in a few words, what the benchmark measures now
public record Context<S>(Path folder, Scale scale, S sizes, Consumer<String> progress) {}
