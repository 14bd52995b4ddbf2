import { DATACENTER_NETWORKS } from './datacenters';
import { decide, listMoments, NOT_MEASURED, type Rule } from './rule';

export const datacenterNetworkRule: Rule = {
  ...{ flag: 'datacenter-network', group: 'network', expected: 'a network that people use' },
  sees:
    'A request from the network of a company that rents servers, from a list of this product. Networks of ' +
    'relays for privacy (iCloud Private Relay and others), of universities and of VPN companies are not on the ' +
    'list. People reach the web from rented servers too, by a VPN of their own, a company’s gateway or a rented ' +
    'desktop.',
  needs: 'a database of networks (`ASN_DATABASE`) that knows the address',
  plainly:
    'The connection came from a place where servers are rented, not from a home, an office or a school. VPNs ' +
    'and rented desktops come from there too, so it weighs little.',
  exempts: {},
  touches: {
    'remote-desktop': 'a rented desktop is in a data centre, and so is the end of many a VPN',
  },
  reference: '`server/detection/rules/datacenters.ts`',
  judge({ networks }) {
    const [first] = networks;
    if (first === undefined) return NOT_MEASURED;
    const found = networks.filter(({ thing }) => DATACENTER_NETWORKS.has(thing));
    const shown = (found[0] ?? first).thing;
    const name = DATACENTER_NETWORKS.get(shown);
    return decide(found.length > 0, name === undefined ? `AS${shown}` : `AS${shown} ${name}`, listMoments(found));
  },
};
