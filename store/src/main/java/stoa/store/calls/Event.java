package stoa.store.calls;

import org.jspecify.annotations.Nullable;
import stoa.base.CallId;
import stoa.log.StoredEntry;
import stoa.store.records.Records;

/// One entry of a key's stream.
///
/// @param entry the entry, whose payload is in the store's format
/// @param event what it says
public record Event(StoredEntry entry, What event) {
  /// What an entry says.
  public sealed interface What {
    /// A put.
    ///
    /// @param value what was put
    /// @param code the number of the code that executes it, see [Execution#code()]
    record Put(byte[] value, int code) implements What {}

    /// A call that the handler made was answered.
    ///
    /// @param call the address of the put that called
    /// @param space the space of the key that was called
    /// @param name its name
    record Answered(long call, String space, byte[] name) implements What {}

    /// A put was taken back, or refused.
    ///
    /// @param call the address of the put, or of this entry
    /// @param reason why
    record TakenBack(long call, String reason) implements What {}

    /// A put that ran long stands.
    ///
    /// @param call the address of the put
    record Stood(long call) implements What {}

    /// The generation ended.
    record Deleted() implements What {}
  }

  /// Who asked for a put.
  ///
  /// @param call the call that a server's client made; null when nobody at a server did
  /// @param isOfMethod whether a method of another key, or a transaction, made the put
  public record Source(@Nullable CallId call, boolean isOfMethod) {}

  /// Who asked for the put of this entry; null when it is no put, or the log does not say.
  public @Nullable Source source() {
    if (entry.kind() != Records.PUT) return null;
    Records.Origin origin = Records.originOf(entry.payload());
    if (origin == null) return null;
    return new Source(origin.call() < 0 ? origin.id() : null, origin.call() >= 0);
  }

  /// What the constructor was given when this entry began the key; null for other entries.
  public byte @Nullable [] opening() {
    if (entry.kind() != Records.PUT) return null;
    Records.Put put = Records.put(entry.payload());
    return put.begins() ? put.opening() : null;
  }

  /// What an entry of a key's stream says.
  public static Event of(StoredEntry entry) {
    return new Event(entry, what(entry));
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
