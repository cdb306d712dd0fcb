package stoa.sim.scenario;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import stoa.base.StreamId;
import stoa.sim.Chance;
import stoa.sim.Trace;
import stoa.sim.check.Demand;
import stoa.sim.world.DeviceModel;
import stoa.sim.world.VersionedChange;
import stoa.sim.world.VersionedModel;
import stoa.sim.world.VersionedNode;
import stoa.sim.world.VersionedNode.OpenWrite;
import stoa.storage.disk.DeviceFailed;
import stoa.storage.disk.DiskFull;
import stoa.storage.disk.ReadFailed;
import stoa.storage.disk.StorageException;
import stoa.storage.object.VersionState;
import stoa.storage.object.WriteTransaction;
import stoa.storage.segment.Commit;

/// Versioned objects on one or two devices: single writes and transactions in any order of their
/// versions, with duplicates and gaps, attributes, truncations, aborts, snapshots, deletions and
/// updates between the devices, under failures of the disk. After each step the run compares the
/// devices with the naive [DeviceModel].
final class VersionedScenario implements Scenario {
  private static final int STEPS = 120;
  private static final int SNAPSHOTS_MAX = 5;
  private static final int MAINTENANCE_STEPS_MAX = 2000;

  private final String name;
  private final int nodes;
  private final VersionedNode.Trouble trouble;

  VersionedScenario(String name, int nodes, VersionedNode.Trouble trouble) {
    this.name = name;
    this.nodes = nodes;
    this.trouble = trouble;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public void run(Chance chance, Trace trace) throws Exception {
    var run = new Run(chance.of("work"), trace);
    try {
      for (int i = 0; i < nodes; i++)
        run.add(new VersionedNode(chance.of("node " + i), trace, trouble));
      run.run();
    } finally {
      for (var node : run.nodes) node.close();
    }
  }

  // Has the records that fill a disk.
  private static final StreamId FILLER = StreamId.of("filler");

  private static final int FILLER_BYTES = 4_000;
  private static final int ROOM_TO_FILL = 400_000;
  private static final int FILLED_LEAST = 20;
  private static final int OVERFILLS_MAX = 2;

  /// The kinds of steps.
  private enum Step {
    WRITE,
    WRITE_NEXT,
    WRITE_MANY,
    RECORDS,
    BEGIN,
    GO_ON,
    COMMIT,
    ABORT,
    SNAPSHOT,
    RELEASE,
    DELETE,
    EXCHANGE,
    IMPORT,
    MAINTAIN,
    REOPEN,
    FAIL,
    FILL,
    OVERFILL
  }

  /// Updates on their way.
  private record Sent(
      StreamId id,
      VersionedNode to,
      int deletions,
      byte[] bytes,
      VersionedModel from,
      VersionState which) {}

  private static final class Run {
    private final Chance chance;
    private final Trace trace;
    private final List<VersionedNode> nodes = new ArrayList<>();
    private final List<StreamId> ids = new ArrayList<>();
    // An object whose device assigns its versions; the devices do not exchange it.
    private final StreamId own = new StreamId(0, 1000);
    // A version is the same on all devices.
    private final Map<StreamId, Map<Long, VersionedChange>> changes = new TreeMap<>();
    private final Map<StreamId, Integer> deletions = new TreeMap<>();
    private final List<Sent> sent = new ArrayList<>();
    private final Map<Step, Integer> weights = new EnumMap<>(Step.class);
    private final int room;
    private final long base;
    private long fillerNext;
    private int overfills;

    Run(Chance chance, Trace trace) {
      this.chance = chance;
      this.trace = trace;
      room = chance.of(List.of(30, 300, 300, 2000, 9000, 20_000));
      base = chance.of(List.of(0L, 0L, 0L, 1L << 40, Long.MAX_VALUE - room));
      int count = 1 + chance.below(4);
      for (int i = 0; i < count; i++) {
        ids.add(chance.percent(50) ? new StreamId(0, i) : StreamId.of("object " + i));
      }
      for (var id : ids) changes.put(id, new TreeMap<>());
      for (var step : Step.values())
        weights.put(step, chance.percent(70) ? 1 + chance.below(20) : 0);
      for (var often : List.of(Step.WRITE, Step.GO_ON)) weights.merge(often, 10, Integer::sum);
      for (var seldom :
          List.of(Step.DELETE, Step.IMPORT, Step.REOPEN, Step.FAIL, Step.FILL, Step.OVERFILL)) {
        weights.computeIfPresent(seldom, (_, weight) -> weight / 5);
      }
    }

    void add(VersionedNode node) {
      nodes.add(node);
      for (var id : ids) node.model().add(id, new VersionedModel(base, room));
      node.model().add(own, new VersionedModel(base, room));
      node.model().addRecords(FILLER);
    }

    void run() throws IOException {
      trace.add("room " + room + " base " + base + " objects " + ids.size());
      for (int i = 0; i < STEPS; i++) {
        var node = chance.of(nodes);
        try {
          step(node);
          if (i % 20 == 19) node.require();
        } catch (DeviceFailed | ReadFailed failed) {
          trace.reached("the device fails");
          trace.add("failed " + failed.getClass().getSimpleName());
          recover();
        }
      }
      for (var node : nodes) node.calm();
      recoverAll();
      if (nodes.size() > 1) level();
      for (var node : nodes) {
        node.require();
        node.reopen(VersionedNode.Index.LOST);
      }
    }

    /// Restarts the devices; either may have failed inside an exchange.
    private void recover() throws IOException {
      for (var node : nodes) node.fail(index());
    }

    private void recoverAll() throws IOException {
      for (var node : nodes) {
        if (chance.percent(50)) node.fail(index());
        else node.reopen(index());
      }
    }

    private VersionedNode.Index index() {
      return chance.percent(30) ? VersionedNode.Index.LOST : VersionedNode.Index.KEPT;
    }

    private Step next() {
      int sum = 0;
      for (int weight : weights.values()) sum += weight;
      int at = chance.below(sum);
      for (var weight : weights.entrySet()) {
        if (at < weight.getValue()) return weight.getKey();
        at -= weight.getValue();
      }
      throw new IllegalStateException("broken invariant: the number is below the sum");
    }

    private void step(VersionedNode node) throws IOException {
      var step = next();
      var id = chance.of(ids);
      trace.add("%s %s".formatted(step, id));
      switch (step) {
        case WRITE -> write(node, id);
        case WRITE_NEXT -> writeNext(node);
        case WRITE_MANY -> writeMany(node);
        case RECORDS -> records(node);
        case BEGIN -> begin(node, id);
        case GO_ON -> goOn(node);
        case COMMIT -> commit(node);
        case ABORT -> abort(node);
        case SNAPSHOT -> snapshot(node, id);
        case RELEASE -> release(node, id);
        case DELETE -> delete(node, id);
        case EXCHANGE -> exchange(node, id);
        case IMPORT -> importObject(node, id);
        case MAINTAIN -> maintain(node);
        case REOPEN -> {
          node.reopen(index());
          trace.reached("a device is opened again");
        }
        case FAIL -> node.fail(index());
        case FILL -> node.fill();
        case OVERFILL -> overfill(node);
      }
      node.model().require(node.device().object(id), chance);
      requireNext(node, id);
    }

    private void requireNext(VersionedNode node, StreamId id) {
      long highest = node.model().of(id).now.highest();
      for (var write : node.open) {
        if (write.id.equals(id)) highest = Math.max(highest, write.transaction.version());
      }
      long next = node.device().object(id).nextVersion();
      if (next != highest + 1) {
        throw new AssertionError(
            "the next version of %s is %d behind %d".formatted(id, next, highest));
      }
    }

    /// Reclaims and reorders, up to the end or a few steps.
    private void maintain(VersionedNode node) throws IOException {
      int steps = chance.percent(50) ? 1 + chance.below(6) : MAINTENANCE_STEPS_MAX;
      boolean[] more = {true};
      int segments = node.device().stats().segments();
      int done = 0;
      for (; done < steps && more[0]; done++) {
        node.run(
            () -> {
              more[0] = node.device().maintain();
              return false;
            },
            _ -> false);
      }
      if (done == MAINTENANCE_STEPS_MAX) throw new AssertionError("maintenance does not end");
      if (done > 1) trace.reached("maintenance does something");
      if (node.device().stats().segments() < segments) trace.reached("segments are reclaimed");
      if (chance.percent(50)) node.require();
    }

    private long version(VersionedNode node, StreamId id) {
      long highest = node.model().of(id).now.highest();
      return switch (chance.below(10)) {
        case 0, 1, 2, 3, 4 -> highest + 1;
        case 5, 6 -> highest + 1 + chance.below(5);
        case 7, 8 -> 1 + chance.below((int) Math.min(highest + 8, 300));
        default -> {
          var known = List.copyOf(Objects.requireNonNull(changes.get(id)).keySet());
          yield known.isEmpty() ? 1 : chance.of(known);
        }
      };
    }

    private VersionedChange change(StreamId id, long version) {
      var known = Objects.requireNonNull(changes.get(id));
      if (nodes.size() == 1) {
        // A version that comes again with other bytes changes nothing either.
        var fresh = VersionedChange.any(chance, base, room);
        known.put(version, fresh);
        return fresh;
      }
      return known.computeIfAbsent(version, _ -> VersionedChange.any(chance, base, room));
    }

    private static DeviceModel.Effect applied(StreamId id, long version, VersionedChange change) {
      return model -> model.of(id).now.apply(version, change);
    }

    private void write(VersionedNode node, StreamId id) throws IOException {
      long version = version(node, id);
      var change = change(id, version);
      var object = node.device().object(id);
      if (node.model().of(id).now.contains(version)) trace.reached("a version comes twice");
      else if (version < node.model().of(id).now.highest()) trace.reached("a version comes late");
      if (change.isSingle()) {
        var write = change.single();
        node.run(
            () -> object.write(version, write.offset(), ByteBuffer.wrap(write.data())),
            applied(id, version, change));
        return;
      }
      var open = new OpenWrite(id, change, object.begin(version));
      node.open.add(open);
      while (goOn(node, open)) {
        // Each call writes one part.
      }
      commit(node, open);
    }

    private void writeNext(VersionedNode node) throws IOException {
      var kept = node.model().of(own);
      var object = node.device().object(own);
      var change = VersionedChange.any(chance, base, room);
      // Versions may be skipped after a failure.
      long[] version = {kept.now.highest() + 1};
      DeviceModel.Effect effect = model -> model.of(own).now.apply(version[0], change);
      if (change.isSingle()) {
        var write = change.single();
        node.run(
            () -> {
              version[0] = given(kept, object.write(write.offset(), ByteBuffer.wrap(write.data())));
              return true;
            },
            effect);
      } else {
        try (var transaction = object.begin()) {
          node.run(
              () -> {
                for (var part : change.parts()) VersionedChange.add(part, transaction);
                change.addAttributes(transaction);
                boolean changed = transaction.commit();
                version[0] = given(kept, transaction.version());
                return changed;
              },
              effect);
        }
      }
      node.model().require(object, chance);
    }

    private long given(DeviceModel.StoredObject kept, long version) {
      long highest = kept.now.highest();
      if (version <= highest) {
        throw new AssertionError("version %d was given behind %d".formatted(version, highest));
      }
      if (version > highest + 1) trace.reached("a version is skipped by the device");
      return version;
    }

    /// Several operations that the device writes together.
    private void writeMany(VersionedNode node) throws IOException {
      int count = 1 + chance.below(12);
      var futures = new ArrayList<CompletableFuture<Boolean>>();
      var effects = new ArrayList<DeviceModel.Effect>();
      node.hold();
      for (int i = 0; i < count; i++) {
        var id = chance.of(ids);
        long version = version(node, id);
        var change = change(id, version);
        if (!change.isSingle()) continue;
        var write = change.single();
        futures.add(
            node.device()
                .object(id)
                .writeAsync(version, write.offset(), ByteBuffer.wrap(write.data())));
        effects.add(applied(id, version, change));
      }
      node.release();
      trace.reached("writes are coalesced");
      StorageException failure = null;
      for (int i = 0; i < futures.size(); i++) {
        try {
          node.done(futures.get(i).join(), effects.get(i));
        } catch (CompletionException e) {
          switch (e.getCause()) {
            case DiskFull _ -> node.full();
            case StorageException failed -> {
              node.unknown(effects.get(i));
              failure = failed;
            }
            case null, default -> throw e;
          }
        }
      }
      if (failure != null) throw failure;
    }

    /// Records beside the versioned objects, on the same log.
    private void records(VersionedNode node) throws IOException {
      var commit = new Commit();
      var written = new LinkedHashMap<DeviceModel.Place, byte[]>();
      for (int i = 1 + chance.below(4); i > 0; i--) {
        var data = new byte[chance.percent(10) ? chance.below(3000) : chance.below(60)];
        VersionedChange.fill(chance, data);
        var place =
            new DeviceModel.Place(
                chance.of(ids), chance.below(DeviceModel.RECORD_SPACES), chance.below(30));
        if (written.putIfAbsent(place, data) != null) continue;
        commit.write(place.id(), place.space(), place.offset(), data, 0, data.length);
      }
      var trims = new ArrayList<DeviceModel.Place>();
      while (chance.percent(20)) {
        var before =
            new DeviceModel.Place(
                chance.of(ids), chance.below(DeviceModel.RECORD_SPACES), chance.below(20));
        commit.trim(before.id(), before.space(), before.offset());
        trims.add(before);
      }
      node.run(
          () -> {
            node.device().append(commit);
            node.device().sync();
            return true;
          },
          model -> {
            written.forEach(model::put);
            trims.forEach(model::trim);
            return true;
          });
      trace.reached("records are written");
      if (!trims.isEmpty()) trace.reached("records are trimmed");
    }

    /// Fills the disk with records, trims all of them in the reserved room, and fills it again.
    private void overfill(VersionedNode node) throws IOException {
      if (!node.open.isEmpty()) return; // the device cannot reclaim the bytes of open writes
      if (overfills++ >= OVERFILLS_MAX) return;
      node.reopen(VersionedNode.Index.KEPT); // so that it determines the room anew
      long most = node.bound(ROOM_TO_FILL);
      for (int round = 0; round < 2; round++) {
        long first = fillerNext;
        while (fillOnce(node)) {
          long bytes = (fillerNext - first) * FILLER_BYTES;
          Demand.that(bytes <= most, "a device holds no more than its disk");
        }
        long count = fillerNext - first;
        trace.add("filled with " + count);
        Demand.that(count > FILLED_LEAST, "a full device takes records once trimmed");
        node.require();
        Demand.that(trimFiller(node), "a full device trims");
      }
      trace.reached("a full disk is trimmed and filled again");
      node.unbound();
    }

    private boolean fillOnce(VersionedNode node) throws IOException {
      var data = new byte[FILLER_BYTES];
      VersionedChange.fill(chance, data);
      var place = new DeviceModel.Place(FILLER, 0, fillerNext++);
      return node.runInRoom(
          () -> {
            var commit = new Commit().write(FILLER, 0, place.offset(), data, 0, data.length);
            node.device().append(commit);
            node.device().sync();
            return true;
          },
          model -> {
            model.put(place, data);
            return true;
          });
    }

    private boolean trimFiller(VersionedNode node) throws IOException {
      var before = new DeviceModel.Place(FILLER, 0, fillerNext);
      return node.runInRoom(
          () -> {
            node.device().append(new Commit().trim(FILLER, 0, before.offset()));
            node.device().sync();
            return true;
          },
          model -> {
            model.trim(before);
            return true;
          });
    }

    private void begin(VersionedNode node, StreamId id) {
      if (node.open.size() >= 6) return;
      long version = version(node, id);
      var transaction = node.device().object(id).begin(version);
      node.open.add(new OpenWrite(id, change(id, version), transaction));
    }

    private void goOn(VersionedNode node) {
      if (node.open.isEmpty()) return;
      trace.reached("transactions are open at once: " + node.open.size());
      var open = chance.of(node.open);
      if (chance.percent(70)) goOn(node, open);
      else pipeline(node, open);
    }

    /// Writes the next part of a transaction. Returns false when there is none left.
    private static boolean goOn(VersionedNode node, OpenWrite open) {
      if (open.broken || open.partsWritten == open.change.parts().size()) return false;
      try {
        VersionedChange.add(open.change.parts().get(open.partsWritten++), open.transaction);
      } catch (DiskFull e) {
        node.full();
        open.broken = true;
      }
      return true;
    }

    /// Begins to write all remaining parts, and waits for none.
    private void pipeline(VersionedNode node, OpenWrite open) {
      node.hold();
      for (; open.partsWritten < open.change.parts().size() && !open.broken; open.partsWritten++) {
        switch (open.change.parts().get(open.partsWritten)) {
          case VersionedChange.Write write -> {
            var _ =
                open.transaction
                    .writeAsync(write.offset(), ByteBuffer.wrap(write.data()))
                    .whenComplete((_, failure) -> open.broken |= failure != null);
          }
          case VersionedChange.Truncate truncate -> open.transaction.truncate(truncate.size());
        }
      }
      node.release();
      trace.reached("parts are pipelined");
    }

    private void commit(VersionedNode node) throws IOException {
      if (node.open.isEmpty()) return;
      var open = chance.of(node.open);
      while (goOn(node, open)) {
        // Each call writes one part.
      }
      commit(node, open);
    }

    private void commit(VersionedNode node, OpenWrite open) throws IOException {
      node.open.remove(open);
      var transaction = open.transaction;
      open.change.addAttributes(transaction);
      if (open.broken || open.orphan) {
        refused(transaction, open);
        return;
      }
      node.run(transaction::commit, applied(open.id, transaction.version(), open.change));
      trace.reached("a transaction is committed");
      mustRefuse(transaction::commit);
      transaction.abort();
    }

    private void refused(WriteTransaction transaction, OpenWrite open) {
      try {
        transaction.commit();
      } catch (IllegalStateException e) {
        if (open.orphan) trace.reached("a transaction is refused, for its object was deleted");
        else if (!open.broken) throw e;
        return;
      } catch (DiskFull e) {
        trace.reached("a transaction is refused, for a part had no room");
        return;
      }
      throw new AssertionError("the transaction of %s had to be refused".formatted(open.id));
    }

    private static void mustRefuse(Runnable action) {
      try {
        action.run();
      } catch (IllegalStateException | DiskFull e) {
        return;
      }
      throw new AssertionError("it had to be refused");
    }

    private void abort(VersionedNode node) {
      if (node.open.isEmpty()) return;
      var open = chance.of(node.open);
      node.open.remove(open);
      open.transaction.close();
      trace.reached("a transaction is aborted");
    }

    private void snapshot(VersionedNode node, StreamId id) throws IOException {
      var kept = node.model().of(id);
      var object = node.device().object(id);
      if (!kept.now.exists()) {
        mustRefuse(object::snapshot);
        return;
      }
      if (kept.snapshots.size() >= SNAPSHOTS_MAX) return;
      long[] number = {0};
      boolean done =
          node.run(
              () -> {
                number[0] = object.snapshot().number();
                return true;
              },
              model -> {
                var at = model.of(id);
                return at.snapshots.add(new DeviceModel.Snapshot(number[0], at.now.copy()));
              });
      if (done) trace.reached("snapshots are kept: " + kept.snapshots.size());
    }

    private void release(VersionedNode node, StreamId id) throws IOException {
      var kept = node.model().of(id);
      if (kept.snapshots.isEmpty()) return;
      int i = chance.below(kept.snapshots.size());
      long number = kept.snapshots.get(i).number();
      var snapshot = node.device().object(id).snapshots().get(i);
      boolean done =
          node.run(
              () -> {
                snapshot.release();
                return true;
              },
              model -> {
                model.release(id, number);
                return true;
              });
      if (!done) return;
      trace.reached("a snapshot is released");
      mustRefuse(snapshot::size);
      node.run(
          () -> {
            snapshot.release();
            return false;
          },
          _ -> false);
    }

    private void delete(VersionedNode node, StreamId id) throws IOException {
      var kept = node.model().of(id);
      var object = node.device().object(id);
      if (!kept.snapshots.isEmpty()) {
        mustRefuse(object::delete);
        return;
      }
      deletions.merge(id, 1, Integer::sum);
      boolean existed = kept.now.exists();
      boolean done =
          node.run(
              object::delete,
              model -> {
                model.delete(id);
                return existed;
              });
      if (!done || !existed) return;
      trace.reached("an object is deleted");
      for (var open : node.open) open.orphan |= open.id.equals(id);
    }

    private void exchange(VersionedNode from, StreamId id) throws IOException {
      if (nodes.size() == 1) return;
      if (!sent.isEmpty() && chance.percent(40)) {
        receive(sent.remove(chance.below(sent.size())));
        return;
      }
      var to = nodes.get(1 - nodes.indexOf(from));
      var updates = send(from, to, id);
      int dice = chance.below(10);
      if (dice < 2) sent.add(updates);
      else receive(updates);
      if (dice == 9) receive(updates); // twice
    }

    private Sent send(VersionedNode from, VersionedNode to, StreamId id) throws IOException {
      var state = to.device().object(id).versionState();
      var bytes = new ByteArrayOutputStream();
      var object = from.device().object(id);
      object.updatesMissingFrom(state, bytes);
      var model = from.model().of(id).now;
      var which = model.state().minus(state);
      long least = model.dataBytes(which);
      long frames = object.stat().extents() + which.ranges().size() + 3;
      if (bytes.size() < least || bytes.size() > least + model.attributeBytes() + 60 * frames) {
        throw new AssertionError(
            bytes.size() + " bytes were sent where " + least + " were missing");
      }
      return new Sent(
          id, to, deletions.getOrDefault(id, 0), bytes.toByteArray(), model.copy(), which);
    }

    private void receive(Sent updates) throws IOException {
      var id = updates.id;
      // Of an object deleted in between it may have less than the sender expects.
      if (updates.deletions != deletions.getOrDefault(id, 0)) return;
      var to = updates.to;
      var object = to.device().object(id);
      if (chance.percent(20)) {
        damaged(object::apply, updates.bytes);
        to.model().require(object, chance);
      }
      boolean done =
          to.run(
              () -> {
                object.apply(new ByteArrayInputStream(updates.bytes));
                return true;
              },
              model -> {
                model.of(id).now.merge(updates.from, updates.which);
                return true;
              });
      if (done) trace.reached("a device is brought level by the other");
      to.model().require(object, chance);
    }

    private interface Receiver {
      void apply(java.io.InputStream updates) throws IOException;
    }

    private void damaged(Receiver receiver, byte[] updates) throws IOException {
      byte[] damaged;
      if (chance.percent(50)) {
        damaged = java.util.Arrays.copyOf(updates, chance.below(updates.length));
      } else {
        damaged = updates.clone();
        damaged[chance.below(damaged.length)] ^= (byte) (1 << chance.below(8));
      }
      try {
        receiver.apply(new ByteArrayInputStream(damaged));
      } catch (IllegalArgumentException | EOFException e) {
        trace.reached("damaged updates are refused");
        return;
      } catch (DiskFull e) {
        return;
      }
      throw new AssertionError("damaged updates were taken");
    }

    /// Copies an object to one that does not exist.
    private void importObject(VersionedNode node, StreamId id) throws IOException {
      var target = chance.of(ids);
      if (nodes.size() > 1 || node.model().of(target).now.exists()) return;
      if (!node.model().of(target).snapshots.isEmpty()) return;
      var bytes = new ByteArrayOutputStream();
      node.device().object(id).updatesMissingFrom(VersionState.EMPTY, bytes);
      var from = node.model().of(id).now.copy();
      boolean done =
          node.run(
              () -> {
                node.device().object(target).apply(new ByteArrayInputStream(bytes.toByteArray()));
                return true;
              },
              model -> {
                model.of(target).now.merge(from, from.state());
                return true;
              });
      if (done) trace.reached("an object is imported");
      node.model().require(node.device().object(target), chance);
    }

    /// Synchronizes both devices and checks that they are equal.
    private void level() throws IOException {
      sent.clear();
      for (var id : ids) {
        receive(send(nodes.get(0), nodes.get(1), id));
        receive(send(nodes.get(1), nodes.get(0), id));
        if (!nodes.get(0).model().of(id).now.isLevelWith(nodes.get(1).model().of(id).now)) {
          throw new AssertionError("the devices are not level at " + id);
        }
      }
      trace.reached("the devices are level");
    }
  }
}
