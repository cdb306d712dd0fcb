package stoa.stacksync.replay;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import stoa.Stoa;
import stoa.stacksync.Account;
import stoa.stacksync.Metadata;
import stoa.stacksync.Quota;
import stoa.stacksync.Services;
import stoa.stacksync.Status;
import stoa.stacksync.SyncService;

/// Whether a store holds exactly what a trace leads to.
///
/// Every item is where its last change put it, with the contents of that change; it has each of its
/// versions once, with the contents that the trace gives it; there are no other items; and each
/// owner is charged for exactly the bytes of the files that are left. A charge is a plain addition,
/// so a call that was lost, or executed twice, would show there even if nothing else showed it.
///
/// @param items how many items the store holds
/// @param versions how many versions they have
/// @param owners how many owners' quotas were checked
/// @param problemCount how many findings there are
/// @param problems the first of them
public record Verification(
    int items, int versions, int owners, int problemCount, List<String> problems) {
  private static final int PROBLEMS_MAX = 20;

  /// Returns whether nothing was found.
  public boolean holds() {
    return problemCount == 0;
  }

  /// Compares a store with a trace that was replayed to its end.
  public static Verification of(Stoa store, Trace trace) {
    var findings = new ArrayList<String>();
    var recount = Recount.of(trace);
    var history = new HashMap<Long, List<TraceRow>>();
    for (var row : trace.rows()) {
      history.computeIfAbsent(row.item(), item -> new ArrayList<>()).add(row);
    }
    var seen = new HashSet<Long>();
    int versions = 0;
    for (var stored : StoredItem.all(store)) {
      var item = stored.item();
      versions += item.versions().size();
      var newest = recount.newest().get(item.item());
      if (!seen.add(item.item())) {
        findings.add("item " + item.item() + " is in more than one workspace");
      } else if (newest == null) {
        findings.add("item " + item.item() + " is not in the trace");
      } else {
        checkNewest(newest, stored, findings);
        checkHistory(history.getOrDefault(item.item(), List.of()), stored, findings);
      }
    }
    for (var newest : recount.newest().values()) {
      if (!seen.contains(newest.item())) {
        findings.add("item " + newest.item() + " (" + newest.path() + ") is missing");
      }
    }
    checkQuotas(Services.reader(store), recount.usedBytes(), findings);
    return new Verification(
        seen.size(),
        versions,
        recount.usedBytes().size(),
        findings.size(),
        findings.stream().limit(PROBLEMS_MAX).toList());
  }

  private static void checkNewest(TraceRow expected, StoredItem stored, List<String> findings) {
    UUID workspace = TraceIds.workspace(expected.workspace());
    if (!stored.workspace().equals(workspace)) {
      findings.add(
          "item %d (%s) is in workspace %s instead of %s"
              .formatted(expected.item(), expected.path(), stored.workspace(), workspace));
    }
    var latest = stored.item().latest();
    Metadata metadata = latest.metadata();
    boolean deleted = expected.status() == Status.DELETED;
    if (latest.version() != expected.version()
        || metadata.checksum() != expected.checksum()
        || metadata.sizeBytes() != expected.size()
        || (metadata.status() == Status.DELETED) != deleted
        || !expected.path().endsWith(metadata.name())) {
      findings.add("%s is expected, but the store has %s".formatted(expected, latest));
    }
  }

  private static void checkHistory(
      List<TraceRow> expected, StoredItem stored, List<String> findings) {
    var versions = stored.item().versions();
    if (versions.size() != expected.size()) {
      findings.add(
          "item %d has %d versions instead of %d"
              .formatted(stored.item().item(), versions.size(), expected.size()));
      return;
    }
    for (int i = 0; i < versions.size(); i++) {
      var version = versions.get(i);
      var row = expected.get(i);
      if (version.version() != row.version()
          || !version.device().equals(TraceIds.device(row.device()))
          || !version.metadata().equals(TraceIds.metadata(row))) {
        findings.add("%s is expected, but the store has %s".formatted(row, version));
      }
    }
  }

  private static void checkQuotas(
      SyncService service, Map<Integer, Long> usedBytes, List<String> findings) {
    usedBytes.forEach((owner, bytes) -> {
      long charged =
          service
              .account(TraceIds.user(owner))
              .map(Account::quota)
              .map(Quota::usedBytes)
              .orElse(-1L);
      if (charged != bytes) {
        findings.add(
            "user %d is charged for %d bytes instead of %d".formatted(owner, charged, bytes));
      }
    });
  }
}
