package stoa.bench.backup;

/// How large the store of the benchmark of backups is.
///
/// @param mebibytes the bytes of its entries
public record BackupScale(int mebibytes) {
  static BackupScale full() {
    return new BackupScale(1_024);
  }

  static BackupScale smoke() {
    return new BackupScale(16);
  }
}
