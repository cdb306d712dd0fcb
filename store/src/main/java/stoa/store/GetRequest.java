package stoa.store;

import org.jspecify.annotations.Nullable;
import stoa.base.Existence;

/// A question to the handler of a key, which is executed after every put before it.
final class GetRequest extends QuestionRequest {
  final Object query;
  final Existence existence;
  final @Nullable Transaction transaction;

  /// Whether it is given up when the handler asks other keys: it is then [#moved].
  final boolean alone;

  /// The log counter up to which all was committed when it was asked, if it is [#alone].
  long asked;

  /// Whether it must be asked of the past: the state had changed behind the moment at which the
  /// transaction reads, or the handler asked other keys. Valid once done.
  boolean moved;

  GetRequest(Resident resident, Object query, Terms terms, int depth) {
    super(resident, terms.pace(), depth);
    this.query = query;
    this.existence = terms.existence();
    this.alone = terms.asksAlone();
    this.transaction = null;
  }

  GetRequest(
      Resident resident, Object query, Existence existence, Pace pace, Transaction transaction) {
    super(resident, pace, 0);
    this.query = query;
    this.existence = existence;
    this.alone = false;
    this.transaction = transaction;
  }

  @Override
  @Nullable Transaction transaction() {
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
