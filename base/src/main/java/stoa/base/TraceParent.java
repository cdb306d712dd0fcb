package stoa.base;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// The place in a trace to which a call belongs, as one process tells it to another: the header
/// `traceparent` of the W3C's Trace Context. Immutable.
///
/// @param trace the number of the trace, 32 hexadecimal digits
/// @param span the number of the span around the call, 16 hexadecimal digits
/// @param isSampled whether the caller records its spans
public record TraceParent(String trace, String span, boolean isSampled) {
  /// The length of the text.
  public static final int LENGTH = 55;

  private static final int TEXT_MAX = 512;
  private static final Pattern FORM =
      Pattern.compile("([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?");
  private static final Pattern ZEROS = Pattern.compile("0+");

  /// Reads the text. Returns null for a text that the Trace Context tells receivers to ignore, as
  /// for an empty one.
  public static @Nullable TraceParent parse(String text) {
    if (text.length() < LENGTH || text.length() > TEXT_MAX) return null;
    var matcher = FORM.matcher(text);
    if (!matcher.matches()) return null;
    String version = matcher.group(1);
    String trace = matcher.group(2);
    String span = matcher.group(3);
    boolean isOther = version.equals("ff") || (version.equals("00") && matcher.group(5) != null);
    if (isOther || ZEROS.matcher(trace).matches() || ZEROS.matcher(span).matches()) return null;
    return new TraceParent(trace, span, (Integer.parseInt(matcher.group(4), 16) & 1) != 0);
  }

  /// Returns the text.
  @Override
  public String toString() {
    return "00-" + trace + "-" + span + (isSampled ? "-01" : "-00");
  }
}
