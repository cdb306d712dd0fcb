package stoa.bench.report;

import java.nio.file.Path;
import java.util.function.Consumer;
import stoa.bench.load.Scale;

/// The place and the extent of a benchmark's measurements.
///
/// @param <S> the type of the benchmark's own sizes
/// @param folder an empty folder for the benchmark's files, on the disk that is measured
/// @param scale how long each load runs
/// @param sizes the benchmark's own sizes
/// @param progress receives the present measurement, in a few words
public record Context<S>(Path folder, Scale scale, S sizes, Consumer<String> progress) {}
