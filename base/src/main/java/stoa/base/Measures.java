package stoa.base;

/// Receives the measures of the parts of Stoa. The parts keep their counts anyway; a monitor reads
/// all counts of a moment at once, through this interface.
///
/// A name has words of a-z that dots separate, and does not end with its unit. Tags come in pairs,
/// a name and a value; all measures of one name have tags of the same names.
public interface Measures {
  /// The unit of plain numbers.
  String NO_UNIT = "";

  /// The unit of sizes.
  String BYTES = "bytes";

  /// The unit of times.
  String SECONDS = "seconds";

  /// Takes a number that only grows.
  ///
  /// @param name of the measure
  /// @param unit what it counts; [#NO_UNIT] when the name says so
  /// @param meaning one sentence for people
  void count(String name, String unit, String meaning, long total, String... tags);

  /// Takes a number that goes up and down.
  ///
  /// @param name of the measure
  /// @param unit what it counts; [#NO_UNIT] when the name says so
  /// @param meaning one sentence for people
  void gauge(String name, String unit, String meaning, double value, String... tags);

  /// Takes how often something happens and how long it takes.
  ///
  /// @param name of the measure
  /// @param meaning one sentence for people
  void latency(String name, String meaning, Latency latency, String... tags);

  /// Returns these with further tags for all that they take.
  default Measures with(String... further) {
    Measures all = this;
    return new Measures() {
      @Override
      public void count(String name, String unit, String meaning, long total, String... tags) {
        all.count(name, unit, meaning, total, joined(tags));
      }

      @Override
      public void gauge(String name, String unit, String meaning, double value, String... tags) {
        all.gauge(name, unit, meaning, value, joined(tags));
      }

      @Override
      public void latency(String name, String meaning, Latency latency, String... tags) {
        all.latency(name, meaning, latency, joined(tags));
      }

      private String[] joined(String... tags) {
        var joined = new String[further.length + tags.length];
        System.arraycopy(further, 0, joined, 0, further.length);
        System.arraycopy(tags, 0, joined, further.length, tags.length);
        return joined;
      }
    };
  }
}
