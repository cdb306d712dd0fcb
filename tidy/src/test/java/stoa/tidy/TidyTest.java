package stoa.tidy;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;
import static stoa.tidy.Purity.World.CLOCK;
import static stoa.tidy.Purity.World.FILE;
import static stoa.tidy.Purity.World.RANDOMNESS;
import static stoa.tidy.Purity.World.THREAD;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import stoa.tidy.Purity.Edge;

/// This repository, under every check.
class TidyTest {
  /// The modules whose classes are pure but for their edges.
  private static final List<String> PURE =
      List.of(
          "api", "base", "front", "storage", "log", "store", "objects", "collections", "migration");

  /// The classes of those modules that may touch the world, and why.
  private static final List<Edge> EDGES =
      List.of(
          Edge.of("stoa.base.Clock", "the machine's clock, for code that may read it", CLOCK),
          Edge.of("stoa.base.Latency", "each thread counts in a place of its own", THREAD),
          Edge.of("stoa.base.Permissions", "who may read the files of a store", FILE),
          Edge.of(
              "stoa.storage.disk.FileDisk",
              "the real disk; an interrupt of its caller must not cost it a file, and it looks"
                  + " every now and then whether it still has its lock",
              FILE,
              THREAD,
              CLOCK),
          Edge.of(
              "stoa.storage.Device",
              "starts the thread that writes index runs; says how long making the index took",
              THREAD,
              CLOCK),
          Edge.of(
              "stoa.storage.segment.GroupCommit",
              "its callers write for each other, and wait",
              THREAD),
          Edge.of(
              "stoa.storage.object.ReadQueue",
              "has others read for callers that do not wait",
              THREAD),
          Edge.of(
              "stoa.storage.upkeep.Upkeep",
              "the thread that keeps an idle device in order",
              THREAD),
          Edge.of(
              "stoa.storage.index.Index",
              "gives index runs to that thread, and waits when it falls behind",
              THREAD),
          Edge.of(
              "stoa.log.ChangeLane",
              "has a thread wait for the replicas, and callers while too much is under way",
              THREAD),
          Edge.of(
              "stoa.migration.Domain",
              "has the threads on which messages take time and objects change sides",
              THREAD),
          Edge.of(
              "stoa.migration.RootStore",
              "hands over what loads and writes; callers wait there for the disk",
              THREAD),
          Edge.of("stoa.migration.Outpost", "callers wait there for objects to be lent", THREAD),
          Edge.of("stoa.migration.Seat", "callers wait there for objects", THREAD),
          Edge.of(
              "stoa.migration.Auto",
              "notes how long calls take, which its model has to know",
              CLOCK),
          Edge.of(
              "stoa.migration.AutoClient",
              "notes how long calls take, which the root has to know",
              CLOCK),
          Edge.of(
              "stoa.migration.AutoRoot",
              "notes how long calls take, and has threads that wait for objects to change sides",
              THREAD,
              CLOCK),
          Edge.of(
              "stoa.migration.LocalLinks",
              "has the thread by which messages take time in measurements",
              THREAD),
          Edge.of("stoa.front.Attempts", "transactions that have lost often wait here", THREAD),
          Edge.of("stoa.objects.KeyFeed", "hands over what listeners are told", THREAD),
          Edge.of("stoa.objects.KeyValues", "hands over what listeners ask the store for", THREAD),
          Edge.of("stoa.objects.LocalFeed", "calls a listener of this process", THREAD),
          Edge.of("stoa.indexes.Watch", "measures how long its reader has waited", CLOCK),
          Edge.of("stoa.front.CallRecorder", "hands over asynchronous answers", THREAD),
          Edge.of("stoa.front.SerialCalls", "makes calls while their callers go on", THREAD),
          Edge.of(
              "stoa.objects.LookService",
              "limits how long an operator looks; watches the objects in memory for a while",
              THREAD,
              CLOCK),
          Edge.of(
              "stoa.objects.Spreading",
              "copies a blob through a pipe, with a thread at its other end",
              THREAD),
          Edge.of("stoa.objects.Sessions", "draws the secrets of sessions", RANDOMNESS),
          Edge.of("stoa.front.SharedTransaction", "knows the thread of its body", THREAD),
          Edge.of(
              "stoa.objects.StoreUrl",
              "looks whether a directory is of one shard or of several",
              FILE),
          Edge.of(
              "stoa.objects.LocalService",
              "answers asynchronous calls on threads of their own",
              THREAD),
          Edge.of(
              "stoa.front.marshal.CodecPool",
              "looks first where the calling thread left a codec",
              THREAD),
          Edge.of(
              "stoa.store.leading.Admission",
              "where closing waits, and has a limit",
              THREAD,
              CLOCK),
          Edge.of("stoa.store.blobs.Gates", "writers and deleters of a blob wait here", THREAD),
          Edge.of("stoa.store.ordering.Coordinator", "callers wait here for the decision", THREAD),
          Edge.of("stoa.store.leading.BatchTurn", "knows which thread writes the batch", THREAD),
          Edge.of("stoa.store.watching.Progress", "followers of the log wait here", THREAD),
          Edge.of("stoa.store.running.Pending", "wakes the caller that waits for it", THREAD),
          Edge.of("stoa.store.batches.BriefTurn", "knows the thread that runs it", THREAD),
          Edge.of("stoa.store.running.Runners", "knows which thread runs which call", THREAD),
          Edge.of("stoa.base.Timing", "the process's clock and its timer threads", THREAD, CLOCK),
          Edge.of("stoa.store.threads.Threads", "starts the writer and the ticks", THREAD),
          Edge.of("stoa.store.threads.Workers", "starts the threads of user methods", THREAD));

  private final Repository repository = Repository.here();

  @Test
  void coresTouchNoClockThreadFileOrRandomness() throws IOException {
    var classes = new ArrayList<byte[]>();
    for (var module : repository.modules()) {
      if (PURE.contains(module.name())) classes.addAll(compiled(module));
    }
    assertTrue(classes.size() > PURE.size(), "found " + classes.size() + " classes; build first");
    none(Purity.problems(classes, EDGES));
  }

  @Test
  void modulesDependOnlyOnModulesBelowThem() {
    none(Arrows.problems(repository, Arrows.ALLOWED));
    none(Arrows.strays(repository));
    none(Arrows.narrowed(repository));
  }

  @Test
  void packagesOfAModuleDoNotImportEachOther() {
    none(Cycles.problems(repository));
  }

  @Test
  void filesThatAllUseEachOtherAreNoMoreThanListed() {
    none(Knots.problems(repository));
  }

  @Test
  void namesOfTheInterfaceDoNotClashWithThoseOfTheJdk() {
    none(ClashingNames.problems(repository));
  }

  @Test
  void oneNameStandsForOneTypeOfTheProduct() {
    none(DoubleNames.problems(repository, DoubleNames.ACCEPTED));
  }

  @Test
  void linksOfDocumentsLeadSomewhere() {
    none(Links.problems(repository));
  }

  @Test
  void theModuleMapListsTheModules() {
    none(ModuleMap.problems(repository));
  }

  @Test
  void modularProgramsCanNameEveryModuleForThem() {
    none(JavaModules.problems(repository));
  }

  @Test
  void commentsBehindFieldsNameALockAnOwnerOrAUnit() {
    none(FieldComments.problems(repository));
  }

  @Test
  void nothingNamesAMachineSleepsPromisesForLaterOrLacksANoun() {
    none(Words.problems(repository));
  }

  @Test
  void theTestsThatShowTheGuaranteesExist() {
    none(Evidence.problems(repository));
  }

  @Test
  void theTableOfTheTestsOfTheJdkHasEachOfThemAndNamesTestsThatExist() {
    none(Conformance.problems(repository, Conformance.ofTheJdk()));
  }

  @Test
  void everyPackageHasACommentAndIsCheckedForNull() {
    none(NullMarks.problems(repository));
  }

  @Test
  void thePublicInterfaceIsDocumented() {
    none(Documented.problems(repository));
  }

  private List<byte[]> compiled(Repository.Module module) throws IOException {
    Path classes = repository.root().resolve(module.folder()).resolve("target/classes");
    try (var files = Files.walk(classes)) {
      return files
          .filter(file -> file.toString().endsWith(".class"))
          .sorted()
          .map(file -> {
            try {
              return Files.readAllBytes(file);
            } catch (IOException e) {
              throw new UncheckedIOException(e);
            }
          })
          .toList();
    }
  }

  private static void none(List<String> problems) {
    if (!problems.isEmpty()) fail(String.join("\n", problems));
  }
}
