package stoa.store;

import org.jspecify.annotations.Nullable;
import stoa.base.Existence;

/// A request to end a key's generation. Its number is the generation that it ended.
final class DeleteRequest extends ChangeRequest {
  final Existence existence;

  /// The client's call that makes it; null for a caller of this process.
  final Records.@Nullable Origin origin;

  DeleteRequest(Resident resident, Existence existence, Records.@Nullable Origin origin) {
    super(resident, Pace.SHORT, 0);
    this.existence = existence;
    this.origin = origin;
  }

  @Override
  boolean keepsItsTurn() {
    return true;
  }

  @Override
  boolean isOrdered() {
    return resident.ordered;
  }
}
