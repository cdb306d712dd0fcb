package stoa.classifier;

import java.util.List;

/// The category of a connection: normal traffic, or one of the four kinds of attacks of the data
/// set.
public enum Category {
  /// No attack.
  NORMAL(0, "normal"),
  /// Denial of service.
  DOS(1, "back land neptune pod smurf teardrop apache2 mailbomb processtable " + "udpstorm worm"),
  /// Looking for weaknesses.
  PROBE(2, "ipsweep nmap portsweep satan mscan saint"),
  /// Entering a machine from outside.
  R2L(
      3,
      "ftp_write guess_passwd imap multihop phf spy warezclient warezmaster "
          + "named sendmail snmpgetattack snmpguess xlock xsnoop httptunnel"),
  /// Becoming the super-user of a machine.
  U2R(4, "buffer_overflow loadmodule perl rootkit ps sqlattack xterm");

  private static final List<Category> ALL = List.of(values());

  private final int number;
  private final String labels;

  Category(int number, String labels) {
    this.number = number;
    this.labels = " " + labels + " ";
  }

  /// The number that stands for it, from 0; stays the same.
  public int number() {
    return number;
  }

  /// The category of a number.
  public static Category of(int number) {
    return ALL.get(number);
  }

  /// Returns whether it is an attack.
  public boolean isAttack() {
    return this != NORMAL;
  }

  /// The category of a label of the data set, as `neptune`.
  ///
  /// @throws IllegalArgumentException when there is no such label
  public static Category of(String label) {
    for (var category : values()) {
      if (category.labels.contains(" " + label + " ")) return category;
    }
    throw new IllegalArgumentException("no connection is labelled " + label);
  }
}
