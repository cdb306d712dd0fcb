package stoa.coordination;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import stoa.Accessor;
import stoa.Awaits;
import stoa.Call;
import stoa.Shared;
import stoa.spi.Forkable;

/// An election in which one of several candidates leads, for the time of a lease.
///
/// The number of a leadership is its *fencing token*, as in [SharedLock]: what the leader directs
/// refuses a lower number than it has seen. A leader renews its lease in good time; when it does
/// not, the first candidate that waits leads within about half a second after the end of the lease.
/// Candidates lead in the order in which they came.
@Shared(name = "stoa.Election")
public class SharedElection implements Forkable<SharedElection> {
  /// A leadership.
  ///
  /// @param candidate the name of the leader
  /// @param token the number of the leadership, from 1
  /// @param end when its lease ends, or has ended, by the time of the log
  public record Leader(String candidate, long token, Instant end) {}

  private long token;
  private @Nullable Leader leader;

  /// For the store: an election without a leader.
  protected SharedElection() {}

  /// Waits until no other candidate leads, and begins to lead.
  ///
  /// @param candidate a name for others to see
  /// @param lease how long the candidate leads at most unless it renews; positive
  /// @return the number of the leadership
  /// @throws IllegalArgumentException when the lease is not positive
  @Awaits(inOrder = true)
  public long campaign(String candidate, Duration lease) {
    Leases.check(lease);
    Instant now = Call.now();
    Call.await(() -> !leads(now));
    return lead(candidate, now, lease);
  }

  /// Begins to lead if no other candidate leads.
  ///
  /// @return the number of the leadership; 0 when another candidate leads
  public long tryCampaign(String candidate, Duration lease) {
    Leases.check(lease);
    Instant now = Call.now();
    return leads(now) ? 0 : lead(candidate, now, lease);
  }

  /// Makes the lease of the leader end later.
  ///
  /// @param lease how long it leads from now on at most
  /// @return whether it still led; otherwise nothing has changed
  public boolean renew(long held, Duration lease) {
    Leases.check(lease);
    Instant now = Call.now();
    Leader known = leader;
    if (known == null || held != known.token() || !leads(now)) return false;
    leader = new Leader(known.candidate(), held, Leases.end(now, lease));
    return true;
  }

  /// Ends a leadership.
  ///
  /// @return whether it still led; otherwise nothing has changed
  public boolean resign(long held) {
    Leader known = leader;
    if (known == null || held != known.token() || !leads(Call.now())) return false;
    leader = null;
    return true;
  }

  /// Returns the last leader; null when it has resigned, and before the first.
  @Accessor
  public @Nullable Leader leader() {
    return leader;
  }

  private long lead(String candidate, Instant now, Duration lease) {
    leader = new Leader(candidate, ++token, Leases.end(now, lease));
    return token;
  }

  private boolean leads(Instant now) {
    return leader != null && now.isBefore(leader.end());
  }

  @Override
  public SharedElection fork() {
    var copy = new SharedElection();
    copy.token = token;
    copy.leader = leader;
    return copy;
  }
}
