package stoa.cluster;

import stoa.base.Decoder;
import stoa.base.Encoder;

/// What the server that leads group 0 says to each, itself included; the answer is a [Report].
///
/// A server acts on what comes in the order of mandates only: what comes late is refused.
///
/// @param settings of the store
/// @param mandate which of all requests it is
/// @param said what it says
record Request(Settings settings, Mandate mandate, Said said) {
  private static final int VERSION = 1;

  /* A setting of servers of before: stores in one group have the same with both. */
  private static final int NOTHING = 0;

  /// The place of a request in the order of all.
  ///
  /// @param term in which who says it leads group 0
  /// @param number in the term
  record Mandate(long term, long number) {
    boolean isAfter(Mandate other) {
      return term != other.term ? term > other.term : number > other.number;
    }
  }

  /// One thing to say.
  sealed interface Said {
    /// This is how things are; how are they with you?
    record Know(View view) implements Said {}

    /// Do this. [Step.Add], [Step.Remove] and [Step.Transfer] are said to who leads the group, and
    /// go on after the answer.
    record Do(Step step) implements Said {}
  }

  byte[] bytes() {
    var out = new Encoder(256).u8(VERSION);
    out.i64(settings.store()).varint(settings.groups()).varint(settings.replicas());
    out.u8(NOTHING);
    out.varint(mandate.term()).varint(mandate.number());
    switch (said) {
      case Said.Know(View view) -> view.write(out.u8(1));
      case Said.Do(Step step) -> step.write(out.u8(2));
    }
    return out.toBytes();
  }

  /// The request of some bytes.
  ///
  /// @throws IllegalArgumentException when they are none that this program understands
  static Request of(byte[] bytes) {
    var in = new Decoder(bytes);
    int version = in.u8();
    if (version != VERSION) {
      throw new IllegalArgumentException("a request of version " + version + "; this is of 1");
    }
    var settings = new Settings(in.i64(), (int) in.varint(), (int) in.varint());
    int _ = in.u8();
    var mandate = new Mandate(in.varint(), in.varint());
    int kind = in.u8();
    return new Request(
        settings,
        mandate,
        switch (kind) {
          case 1 -> new Said.Know(View.read(in));
          case 2 -> new Said.Do(Step.read(in));
          default -> throw new IllegalArgumentException("a request of kind " + kind);
        });
  }
}
