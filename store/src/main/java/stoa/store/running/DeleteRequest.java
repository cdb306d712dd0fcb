package stoa.store.running;

import org.jspecify.annotations.Nullable;
import stoa.base.Existence;
import stoa.store.calls.Pace;
import stoa.store.records.Records;

/// A request to end a key's generation. Its number is the generation that it ended.
@SuppressWarnings("exports") // see the package
public final class DeleteRequest extends ChangeRequest {
  public final Existence existence;

  /// The client's call that makes the deletion; null for a caller of this process.
  public final Records.@Nullable Origin origin;

  public DeleteRequest(Resident resident, Existence existence, Records.@Nullable Origin origin) {
    super(resident, Pace.SHORT, 0);
    this.existence = existence;
    this.origin = origin;
  }

  @Override
  boolean keepsItsTurn() {
    return true;
  }

  @Override
  public boolean isOrdered() {
    return resident.ordered;
  }
}
