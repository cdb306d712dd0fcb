package stoa.cli;

import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import stoa.wire.proto.ShownBounds;

/// The options by which a command finds the store that it looks into, and says how much it shows.
final class LookOptions {
  @Mixin private Operator operator = new Operator();

  @Option(
      names = "--data",
      paramLabel = "DIR",
      description =
          "In place of --server: the directory of a store that no process has open. Its files stay"
              + " as they are.")
  private @Nullable Path data;

  @Option(names = "--json", description = "Prints JSON.")
  private boolean json;

  @Option(
      names = "--elements",
      paramLabel = "N",
      description = "The most elements of each collection. Default: 100")
  private int elements;

  @Option(
      names = "--text",
      paramLabel = "N",
      description = "The most characters of each text. Default: 400")
  private int text;

  /// Opens the source.
  LookSource open(CommandLine line) {
    if (elements < 0 || text < 0) {
      throw new ParameterException(line, "--elements and --text must not be negative");
    }
    Path directory = data;
    if (directory == null) return LookSource.Served.of(operator);
    if (line.getParseResult().hasMatchedOption("--server")) {
      throw new ParameterException(line, "give --data or --server, and not both");
    }
    return LookSource.Stored.of(new ScratchStore(line, directory));
  }

  /// Returns whether to print JSON.
  boolean json() {
    return json;
  }

  /// Returns how much is shown of a value.
  ShownBounds bounds() {
    return ShownBounds.newBuilder().setElementsMax(elements).setTextMax(text).build();
  }

  /// Returns a time as commands print it: in UTC.
  static String time(long micros) {
    return Instant.EPOCH.plus(micros, ChronoUnit.MICROS).truncatedTo(ChronoUnit.MILLIS).toString();
  }

  /// Reads a time: `2026-11-26T14:00:00Z`, with any offset; without one, or as a time of today, it
  /// is in the time zone of this machine.
  ///
  /// @return microseconds since 1970
  /// @throws IllegalArgumentException when the text is something else
  static long micros(String text) {
    ZoneId zone = ZoneId.systemDefault();
    Instant time;
    try {
      if (text.indexOf('T') < 0) {
        time = LocalTime.parse(text).atDate(java.time.LocalDate.now(zone)).atZone(zone).toInstant();
      } else if (text.endsWith("Z") || text.lastIndexOf('+') > 0 || text.lastIndexOf('-') > 8) {
        time = ZonedDateTime.parse(text).toInstant();
      } else {
        time = LocalDateTime.parse(text).atZone(zone).toInstant();
      }
    } catch (DateTimeException none) {
      throw new IllegalArgumentException(
          "\""
              + text
              + "\" is no version and no time; say 17, 14:30:00, 2026-11-26T14:30:00 or"
              + " 2026-11-26T14:30:00Z",
          none);
    }
    return ChronoUnit.MICROS.between(Instant.EPOCH, time);
  }
}
