package stoa.store.running;

import org.jspecify.annotations.Nullable;
import stoa.base.Existence;
import stoa.store.calls.Pace;
import stoa.store.calls.Terms;

/// A question to the handler of a key. The handler answers it after all earlier puts.
public final class GetRequest extends QuestionRequest {
  final Object query;
  final Existence existence;
  final @Nullable StoreTransaction transaction;

  /// Whether the store gives the question up when its handler asks other keys; the question is then
  /// [#moved].
  public final boolean alone;

  /// The log counter up to which all was committed when the caller asked, if the question is
  /// [#alone].
  public long asked;

  /// Whether the caller must ask the past instead: the state had changed behind the moment at which
  /// the transaction reads, or the handler asked other keys. Valid once done.
  boolean moved;

  public GetRequest(Resident resident, Object query, Terms terms, int depth) {
    super(resident, terms.pace(), depth);
    this.query = query;
    this.existence = terms.existence();
    this.alone = terms.asksAlone();
    this.transaction = null;
  }

  GetRequest(
      Resident resident,
      Object query,
      Existence existence,
      Pace pace,
      StoreTransaction transaction) {
    super(resident, pace, 0);
    this.query = query;
    this.existence = existence;
    this.alone = false;
    this.transaction = transaction;
  }

  @Override
  public @Nullable StoreTransaction transaction() {
    return transaction;
  }

  @Override
  boolean keepsItsTurn() {
    return true;
  }

  @Override
  public boolean isMoved() {
    return moved;
  }
}
