package stoa.store.calls;

import org.jspecify.annotations.Nullable;
import stoa.base.CallId;
import stoa.log.StoredEntry;
import stoa.store.records.Records;

/// One entry of a key's stream.
///
/// @param entry the entry, whose payload is in the store's format
/// @param event the content of the entry
public record KeyEntry(StoredEntry entry, What event) {
  /// The content of an entry.
  public sealed interface What {
    /// A put.
    ///
    /// @param value the bytes of the put
    /// @param code the number of the code that executes it, see [Execution#code()]
    record Put(byte[] value, int code) implements What {}

    /// The answer to a call that the handler made.
    ///
    /// @param call the address of the put that called
    /// @param space the space of the called key
    /// @param name the name of the called key
    record Answered(long call, String space, byte[] name) implements What {}

    /// The verdict over a put that was taken back, or its refusal.
    ///
    /// @param call the address of the put, or of this entry
    /// @param reason the reason
    record TakenBack(long call, String reason) implements What {}

    /// The mark that a put which ran long stands.
    ///
    /// @param call the address of the put
    record Stood(long call) implements What {}

    /// The end of the generation.
    record Deleted() implements What {}
  }

  /// The origin of a put.
  ///
  /// @param call the call that a server's client made; null when no such client did
  /// @param isOfMethod whether a method of another key, or a transaction, made the put
  public record Source(@Nullable CallId call, boolean isOfMethod) {}

  /// Returns the origin of this entry's put; null when it is no put, or the log does not name the
  /// origin.
  public @Nullable Source source() {
    if (entry.kind() != Records.PUT) return null;
    Records.Origin origin = Records.originOf(entry.payload());
    if (origin == null) return null;
    return new Source(origin.call() < 0 ? origin.id() : null, origin.call() >= 0);
  }

  /// Returns the constructor's argument when this entry began the key; null for other entries.
  public byte @Nullable [] opening() {
    if (entry.kind() != Records.PUT) return null;
    Records.Put put = Records.put(entry.payload());
    return put.begins() ? put.opening() : null;
  }

  /// Decodes an entry of a key's stream.
  public static KeyEntry of(StoredEntry entry) {
    return new KeyEntry(entry, what(entry));
  }

  private static What what(StoredEntry entry) {
    byte[] payload = entry.payload();
    return switch (entry.kind()) {
      case Records.PUT -> {
        var put = Records.put(payload);
        yield new What.Put(put.value(), put.code());
      }
      case Records.ANSWERED -> {
        var answered = Records.answered(payload);
        yield new What.Answered(answered.call(), answered.space(), answered.name());
      }
      case Records.VERDICT -> {
        var verdict = Records.verdict(payload);
        yield new What.TakenBack(verdict.call(), verdict.why().reason());
      }
      case Records.REFUSED ->
          new What.TakenBack(entry.address(), Records.refused(payload).why().reason());
      case Records.DONE -> new What.Stood(Records.done(payload));
      default -> new What.Deleted();
    };
  }
}
