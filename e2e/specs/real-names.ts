// Host names as on real pages, to check the popup's layout with: long subdomains, several hosts of one site, names
// under private suffixes, and a content delivery network whose shards share a prefix. All are served on loopback.

/** The page's own host. */
export const OWN_HOST = 'www.theguardian.com';

/** The shards of a content delivery network. */
export const SHARDS = { prefix: 'cdn-assets-eu-west-', count: 11 } as const;
const SHARED_PREFIX = Array.from(
  { length: SHARDS.count },
  (_, n) => `${SHARDS.prefix}${n + 1}.static.guim.co.uk`,
);

const HOSTS: readonly string[] = [
  'fonts.googleapis.com',
  'static.hotjar.com',
  'd1a2b3.cloudfront.net',
  'fonts.gstatic.com',
  'www.googletagmanager.com',
  'i.guim.co.uk',
  'assets.guim.co.uk',
  'securepubads.g.doubleclick.net',
  'pagead2.googlesyndication.com',
  'api.nextgen.guardianapps.co.uk',
  'sourcepoint.theguardian.com',
  'interactive.guim.co.uk',
  'ophan.theguardian.com',
  'contributions.guardianapis.com',
  'googleads.g.doubleclick.net',
  'stats.g.doubleclick.net',
  'cm.g.doubleclick.net',
  'ajax.googleapis.com',
  'maps.googleapis.com',
  'storage.googleapis.com',
  'www.gstatic.com',
  'ssl.gstatic.com',
  'script.hotjar.com',
  'vars.hotjar.com',
  'c.amazon-adsystem.com',
  's.amazon-adsystem.com',
  'aax-eu.amazon-adsystem.com',
  'fastlane.rubiconproject.com',
  'prebid-server.rubiconproject.com',
  'pixel.rubiconproject.com',
  'ib.adnxs.com',
  'acdn.adnxs.com',
  'hbopenbid.pubmatic.com',
  'ads.pubmatic.com',
  'cdn.brandmetrics.com',
  'collector.brandmetrics.com',
  'sb.scorecardresearch.com',
  'static.chartbeat.com',
  'ping.chartbeat.net',
  'd3qdfnco3bamip.cloudfront.net',
  'dqcgs6wrdr6a.cloudfront.net',
  'uploads.guim.co.uk',
  'static.theguardian.com',
  'media.theguardian.com',
  'bidder.criteo.com',
  'gum.criteo.com',
  'cdn.permutive.com',
  'api.permutive.com',
  'guardian-editions.github.io',
  'analytics.tiktok.com',
  'connect.facebook.net',
  'accounts-and-identity-services.production.eu-central-1.elb.customer-facing.example-media-holding.de',
  'xn--mnchen-3ya.de',
];

/** `count` different hosts, the page's own first; beyond the real ones, shards of an invented network. */
export function realHosts(count: number): string[] {
  const real = [OWN_HOST, ...HOSTS.slice(0, 5), ...SHARED_PREFIX, ...HOSTS.slice(5)];
  const more = Array.from(
    { length: Math.max(0, count - real.length) },
    (_, n) => `t${n}.tracker-network-${n % 40}.example.net`,
  );
  return [...real, ...more].slice(0, count);
}
