package stoa.classifier;

/// The application of a connection, by its service. There is a classifier for each.
public enum Application {
  /// The web.
  WEB("http http_443 http_2784 http_8001 gopher harvest"),
  /// Mail and news.
  MAIL("smtp pop_2 pop_3 imap4 mtp nntp nnsp auth"),
  /// Files.
  FILES("ftp ftp_data tftp_u uucp uucp_path efs"),
  /// Names and time.
  NAMES("domain domain_u name netbios_ns hostnames csnet_ns ntp_u time daytime"),
  /// Messages of the network itself.
  CONTROL("eco_i ecr_i red_i tim_i urh_i urp_i"),
  /// Services that have no public name.
  PRIVATE("private"),
  /// All others.
  OTHER("");

  private final String services;

  Application(String services) {
    this.services = " " + services + " ";
  }

  /// Returns the application of a connection.
  public static Application of(Connection connection) {
    for (var application : values()) {
      if (application.services.contains(" " + connection.service() + " ")) return application;
    }
    return OTHER;
  }
}
