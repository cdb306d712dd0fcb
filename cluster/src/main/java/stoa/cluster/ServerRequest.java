package stoa.cluster;

import stoa.base.Decoder;
import stoa.base.Encoder;

/// A message of the leader of group 0 to each server, itself included; the answer is a [Report].
///
/// A server acts on messages in the order of mandates, and refuses late ones.
///
/// @param storeProperties of the store
/// @param mandate its place in the order of all requests
/// @param said the message
record ServerRequest(StoreProperties storeProperties, Mandate mandate, Said said) {
  private static final int VERSION = 1;

  // A setting of earlier servers: stores in one group have the same with both.
  private static final int NOTHING = 0;

  /// The place of a request in the order of all.
  ///
  /// @param term in which the sender leads group 0
  /// @param number in the term
  record Mandate(long term, long number) {
    /// Before all requests.
    static final Mandate NONE = new Mandate(0, 0);

    boolean isAfter(Mandate other) {
      return term != other.term ? term > other.term : number > other.number;
    }
  }

  /// The content of a message.
  sealed interface Said {
    /// The sender's view; the receiver answers with its own state.
    record Know(ClusterView view) implements Said {}

    /// The sender's view, for a server that has an earlier view of the same sender.
    record Changed(ViewChange change) implements Said {}

    /// An order. The leader of the group carries out [Step.Add], [Step.Remove] and [Step.Transfer],
    /// and continues after the answer.
    record Do(Step step) implements Said {}
  }

  byte[] bytes() {
    var out = new Encoder(256).u8(VERSION);
    out.i64(storeProperties.store())
        .varint(storeProperties.groups())
        .varint(storeProperties.replicas());
    out.u8(NOTHING);
    out.varint(mandate.term()).varint(mandate.number());
    switch (said) {
      case Said.Know(ClusterView view) -> view.write(out.u8(1));
      case Said.Do(Step step) -> step.write(out.u8(2));
      case Said.Changed(ViewChange change) -> change.write(out.u8(3));
    }
    return out.toBytes();
  }

  /// Decodes a request.
  ///
  /// @throws IllegalArgumentException when this program does not understand the bytes
  static ServerRequest of(byte[] bytes) {
    var in = new Decoder(bytes);
    int version = in.u8();
    if (version != VERSION) {
      throw new IllegalArgumentException("a request of version " + version + "; this is of 1");
    }
    var storeProperties = new StoreProperties(in.i64(), (int) in.varint(), (int) in.varint());
    int _ = in.u8();
    var mandate = new Mandate(in.varint(), in.varint());
    int kind = in.u8();
    return new ServerRequest(
        storeProperties,
        mandate,
        switch (kind) {
          case 1 -> new Said.Know(ClusterView.read(in));
          case 2 -> new Said.Do(Step.read(in));
          case 3 -> new Said.Changed(ViewChange.read(in));
          default -> throw new IllegalArgumentException("a request of kind " + kind);
        });
  }
}
