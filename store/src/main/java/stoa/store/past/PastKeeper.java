package stoa.store.past;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import stoa.base.Key;
import stoa.store.running.ChangeRequest;
import stoa.store.running.Keeper;
import stoa.store.running.Materialized;
import stoa.store.running.Resident;

/// Keeps versions and checkpoints for readers of the past as keys change, and tells retention what
/// it may release. Thread-safe.
public final class PastKeeper implements Keeper {
  private final Checkpoints checkpoints;
  private final Retention retention;
  private @Nullable Versions versions;
  private @Nullable Playback playback;

  public PastKeeper(Checkpoints checkpoints, Retention retention) {
    this.checkpoints = checkpoints;
    this.retention = retention;
  }

  /// Sets the readers' parts. Called once, before any handler runs: these parts load states, whose
  /// checkpoints this saves.
  public void keepFor(Versions newVersions, Playback newPlayback) {
    versions = newVersions;
    playback = newPlayback;
  }

  @Override
  public void changes(
      Resident resident, Materialized live, long from, ChangeRequest change, long address) {
    Objects.requireNonNull(versions, "versions").keep(resident, live, from, change, address);
  }

  @Override
  public void checkpoint(Key key, long generation, long address, byte[] state) {
    checkpoints.keep(key, generation, address, state);
  }

  @Override
  public void deleted(Key key, long address) {
    retention.deleted(key, address);
  }

  @Override
  public long generationAfter(Key key, long address) {
    return Objects.requireNonNull(playback, "playback").after(key, address).generation();
  }
}
