/**
 * Numbers of networks (autonomous systems) whose business is to rent servers, and their names. We wrote this list from the
 * public registers of RIPE, ARIN, APNIC and LACNIC, where each number is registered under the name of the company. Only large
 * ones are on it. Left out on purpose: networks through which people reach the web, such as relays for privacy (Cloudflare
 * AS13335, Fastly AS54113, Akamai AS36183 and AS20940), Google's own (AS15169), companies that sell VPNs, universities.
 */
export const DATACENTER_NETWORKS: ReadonlyMap<number, string> = new Map([
  [8_560, 'IONOS'],
  [8_987, 'Amazon'],
  [12_876, 'Scaleway'],
  [14_061, 'DigitalOcean'],
  [14_618, 'Amazon'],
  [16_276, 'OVH'],
  [16_509, 'Amazon'],
  [20_473, 'Vultr'],
  [24_940, 'Hetzner'],
  [28_753, 'Leaseweb'],
  [31_898, 'Oracle Cloud'],
  [36_351, 'IBM Cloud'],
  [37_963, 'Alibaba Cloud'],
  [45_090, 'Tencent Cloud'],
  [45_102, 'Alibaba Cloud'],
  [51_167, 'Contabo'],
  [60_781, 'Leaseweb'],
  [63_949, 'Linode'],
  [132_203, 'Tencent Cloud'],
  [202_053, 'UpCloud'],
  [213_230, 'Hetzner'],
  [396_982, 'Google Cloud'],
]);
