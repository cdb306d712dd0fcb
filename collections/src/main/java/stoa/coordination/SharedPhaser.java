package stoa.coordination;

import stoa.Accessor;
import stoa.Awaits;
import stoa.Call;
import stoa.Shared;
import stoa.spi.Forkable;

/// A barrier whose parties come and go ([java.util.concurrent.Phaser]).
///
/// A phase ends when all registered parties have arrived, and the next one begins. The phaser ends
/// when no party is left after that, or by [#forceTermination]; its phase is negative from then on.
/// Create it with its first parties, `stoa.create(SharedPhaser.class, name, 3)`, or open it without
/// any. A party that is gone has not arrived: another program deregisters it by
/// [#arriveAndDeregister]. `Stoa.within` limits the waiting.
@Shared(name = "stoa.Phaser")
public class SharedPhaser implements Forkable<SharedPhaser> {
  /// How many parties a phaser has at most.
  public static final int PARTIES_MAX = 65_535;

  private int phase;
  private int parties;
  private int unarrived;

  /// For the store: a phaser without parties.
  protected SharedPhaser() {}

  /// Creates a phaser.
  ///
  /// @throws IllegalArgumentException when the number of parties is negative or too large
  public SharedPhaser(int parties) {
    if (parties < 0 || parties > PARTIES_MAX) {
      throw new IllegalArgumentException(parties + " parties; there may be 0 to " + PARTIES_MAX);
    }
    this.parties = parties;
    this.unarrived = parties;
  }

  /// Adds a party that has not arrived.
  ///
  /// @return the phase; negative when the phaser has ended, and nothing has changed
  /// @throws IllegalStateException when there are too many parties
  public int register() {
    return bulkRegister(1);
  }

  /// Adds some parties that have not arrived.
  ///
  /// @return as [#register]
  /// @throws IllegalArgumentException when the number is negative
  /// @throws IllegalStateException when there are too many parties
  public int bulkRegister(int count) {
    if (count < 0) throw new IllegalArgumentException(count + " parties; at least 0");
    if (phase < 0) return phase;
    if (count > PARTIES_MAX - parties) {
      throw new IllegalStateException(
          parties + " parties and " + count + " more; at most " + PARTIES_MAX);
    }
    parties += count;
    unarrived += count;
    return phase;
  }

  /// Notes the arrival of a party.
  ///
  /// @return the phase in which it arrived; negative when the phaser has ended
  /// @throws IllegalStateException when all parties have arrived, since there is none
  public int arrive() {
    if (phase < 0) return phase;
    checkUnarrived();
    int mine = phase;
    if (--unarrived == 0) advance();
    return mine;
  }

  /// Notes the arrival of a party, and removes it.
  ///
  /// @return as [#arrive]
  /// @throws IllegalStateException when all parties have arrived, since there is none
  public int arriveAndDeregister() {
    if (phase < 0) return phase;
    checkUnarrived();
    parties--;
    int mine = phase;
    if (--unarrived == 0) advance();
    return mine;
  }

  /// Waits until a phase has ended.
  ///
  /// @param arrived the phase, as [#arrive] returned it
  /// @return the phase then; at once when the phaser is in another phase, or the argument negative
  @Awaits
  public int awaitAdvance(int arrived) {
    if (arrived < 0) return arrived;
    Call.await(() -> phase != arrived);
    return phase;
  }

  /// Arrives at a phaser, and waits for the other parties.
  ///
  /// @return the phase then; negative when the phaser has ended
  public static int arriveAndAwaitAdvance(SharedPhaser phaser) {
    return phaser.awaitAdvance(phaser.arrive());
  }

  /// Ends the phaser.
  public void forceTermination() {
    phase |= Integer.MIN_VALUE;
  }

  /// Returns whether the phaser has ended.
  @Accessor
  public boolean isTerminated() {
    return phase < 0;
  }

  /// Returns the phase, from 0; after the end of the phaser the last phase plus
  /// `Integer.MIN_VALUE`.
  @Accessor
  public int getPhase() {
    return phase;
  }

  /// Returns how many parties there are.
  @Accessor
  public int getRegisteredParties() {
    return parties;
  }

  /// Returns how many parties have arrived in the phase.
  @Accessor
  public int getArrivedParties() {
    return parties - unarrived;
  }

  /// Returns how many parties have not arrived in the phase.
  @Accessor
  public int getUnarrivedParties() {
    return unarrived;
  }

  private void checkUnarrived() {
    if (unarrived == 0) {
      throw new IllegalStateException("no party is registered; call register() before arriving");
    }
  }

  private void advance() {
    phase = (phase + 1) & Integer.MAX_VALUE;
    unarrived = parties;
    if (parties == 0) forceTermination();
  }

  @Override
  public SharedPhaser fork() {
    var copy = new SharedPhaser(parties);
    copy.phase = phase;
    copy.unarrived = unarrived;
    return copy;
  }
}
