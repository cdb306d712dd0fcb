package stoa.classifier;

import java.util.List;

/// How a connection becomes a vector. Stateless.
///
/// All networks do it alike, and without looking at each other's records: numbers are brought into
/// 0 to 1 by `log(1 + x) / log(1 + max)` with limits that are fixed here, and each protocol,
/// service and flag has a column of its own. One that has none is in no column.
final class Features {
  private static final double[] MAX = {
    60_000, 1e9, 1e9, 1, 3, 14, 100, 5, 1, 10_000, 1, 2, 10_000, 100, 5, 10, 1, 1, 1, 511, 511, 1,
    1, 1, 1, 1, 1, 1, 255, 255, 1, 1, 1, 1, 1, 1, 1, 1
  };
  private static final List<String> PROTOCOLS = List.of("tcp", "udp", "icmp");
  private static final List<String> FLAGS =
      List.of("OTH", "REJ", "RSTO", "RSTOS0", "RSTR", "S0", "S1", "S2", "S3", "SF", "SH");
  private static final List<String> SERVICES =
      List.of(
          "IRC X11 Z39_50 aol auth bgp courier csnet_ns ctf daytime discard domain domain_u echo"
              .concat(" eco_i ecr_i efs exec finger ftp ftp_data gopher harvest hostnames http")
              .concat(" http_2784 http_443 http_8001 imap4 iso_tsap klogin kshell ldap link")
              .concat(" login mtp name netbios_dgm netbios_ns netbios_ssn netstat nnsp nntp")
              .concat(" ntp_u other pm_dump pop_2 pop_3 printer private red_i remote_job rje")
              .concat(" shell smtp sql_net ssh sunrpc supdup systat telnet tftp_u tim_i time")
              .concat(" urh_i urp_i uucp uucp_path vmnet whois")
              .split(" "));

  /// How many columns a vector has.
  static final int COLUMNS = Connection.NUMBERS + PROTOCOLS.size() + SERVICES.size() + FLAGS.size();

  private Features() {}

  /// The vector of a connection, with a place for every column.
  static float[] of(Connection connection) {
    float[] vector = new float[COLUMNS];
    for (int i = 0; i < Connection.NUMBERS; i++) {
      double scaled = StrictMath.log1p(connection.numbers()[i]) / StrictMath.log1p(MAX[i]);
      vector[i] = (float) Math.min(1, scaled);
    }
    int from = Connection.NUMBERS;
    mark(vector, from, PROTOCOLS.indexOf(connection.protocol()));
    mark(vector, from + PROTOCOLS.size(), SERVICES.indexOf(connection.service()));
    mark(vector, from + PROTOCOLS.size() + SERVICES.size(), FLAGS.indexOf(connection.flag()));
    return vector;
  }

  private static void mark(float[] vector, int from, int index) {
    if (index >= 0) vector[from + index] = 1;
  }
}
