import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findUrlFault, isForbiddenAddress } from '../../server/webhooks/address-guard';
import { character, webAddress } from '../support/texts';
import vectors from '../vectors/ssrf.json';

const NO_HOSTS: ReadonlySet<string> = new Set();
const faultOf = (url: string) => findUrlFault(url, NO_HOSTS);
const literal = (address: string) => (address.includes(':') ? `[${address}]` : address);
/** Splits a text into words. `\u{…}` stands for that character. */
const words = (text: string) =>
  text.split(/[ \n]+/).flatMap((word) => {
    const spelled = word.replace(/\\u\{(\w+)\}/g, (_, hex) => String.fromCodePoint(Number.parseInt(hex, 16)));
    return spelled === '' ? [] : [spelled];
  });

describe('the shared vectors', () => {
  it.each(vectors.rejectUrls)('reject the URL %j', (url) => expect(faultOf(url)).toMatch(/^The URL [^.]*\.$/));
  it.each(vectors.allowUrls)('allow the URL %j', (url) => expect(faultOf(url)).toBeNull());
  it.each(vectors.rejectAddresses)('reject the address %s', (address) => {
    expect(isForbiddenAddress(address)).toBe(true);
    expect(isForbiddenAddress(literal(address))).toBe(true);
    expect(faultOf(`https://${literal(address)}/hook`)).not.toBeNull();
  });
  it.each(vectors.allowAddresses)('allow the address %s', (address) => {
    expect(isForbiddenAddress(address)).toBe(false);
    expect(faultOf(`https://${literal(address)}/hook`)).toBeNull();
  });
});

/**
 * The first and last address of each range that the IANA registries do not mark globally reachable, and of our
 * additions.
 */
const FORBIDDEN_RANGES = words(`
  0.0.0.0-0.255.255.255 10.0.0.0-10.255.255.255 100.64.0.0-100.127.255.255 127.0.0.0-127.255.255.255
  169.254.0.0-169.254.255.255 172.16.0.0-172.31.255.255 192.0.0.0-192.0.0.8 192.0.0.11-192.0.0.255
  192.0.2.0-192.0.2.255 192.88.99.0-192.88.99.255 192.168.0.0-192.168.255.255 198.18.0.0-198.19.255.255
  198.51.100.0-198.51.100.255 203.0.113.0-203.0.113.255 224.0.0.0-239.255.255.255 240.0.0.0-255.255.255.255
  168.63.129.16-168.63.129.16
  ::-:: ::1-::1 ::2-::ffff:ffff ::ffff:0.0.0.0-::ffff:255.255.255.255 64:ff9b::-64:ff9b::255.255.255.255
  64:ff9b:1::-64:ff9b:1:ffff:ffff:ffff:ffff:ffff 100::-100::ffff:ffff:ffff:ffff
  100:0:0:1::-100:0:0:1:ffff:ffff:ffff:ffff 1fff:ffff::-1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff
  2001::-2001:0:ffff:ffff:ffff:ffff:ffff:ffff 2001:1::-2001:1:: 2001:1::4-2001:2:ffff:ffff:ffff:ffff:ffff:ffff
  2001:4::-2001:4:111:ffff:ffff:ffff:ffff:ffff 2001:4:113::-2001:1f:ffff:ffff:ffff:ffff:ffff:ffff
  2001:40::-2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff 2001:db8::-2001:db8:ffff:ffff:ffff:ffff:ffff:ffff
  2002::-2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff 3fff::-3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff
  4000::-5eff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 5f00::-5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff
  fc00::-fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff fe80::-febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff
  fec0::-feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff ff00::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff
`).map((range) => range.split('-') as [string, string]);

/** Addresses just outside those ranges, and those that the registries mark globally reachable. */
const REACHABLE = words(`
  1.0.0.0 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 168.63.129.15 168.63.129.17
  169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 191.255.255.255 192.0.0.9 192.0.0.10 192.0.1.0 192.0.1.255
  192.0.3.0 192.31.196.1 192.52.193.1 192.88.98.255 192.88.100.0 192.167.255.255 192.169.0.0 192.175.48.6
  198.17.255.255 198.20.0.0 198.51.99.255 198.51.101.0 203.0.112.255 203.0.114.0 223.255.255.255
  2000:: 2001:1::1 2001:1::2 2001:1::3 2001:3:: 2001:3:ffff:: 2001:4:112:: 2001:4:112:ffff:ffff:ffff:ffff:ffff 2001:20::
  2001:2f:ffff:: 2001:30:: 2001:3f::1 2001:200:: 2001:db7:ffff:: 2001:db9:: 2001:ffff:: 2003:: 2606:4700::1.1.1.1
  2620:4f:8000::1 3ffe:ffff:: 3fff:1000:: 3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff
`);

describe('isForbiddenAddress', () => {
  it.each(FORBIDDEN_RANGES)('forbids %s and %s', (...addresses) => {
    for (const address of addresses) {
      expect(isForbiddenAddress(address)).toBe(true);
      expect(faultOf(`http://${literal(address)}/`)).toMatch(/private, local or reserved/);
    }
  });
  it.each(REACHABLE)('allows %s', (address) => {
    expect(isForbiddenAddress(address)).toBe(false);
    expect(faultOf(`http://${literal(address)}/`)).toBeNull();
  });
  it.each([
    ...['', ' ', ' 1.1.1.1', '1.1.1.1\n'],
    ...words(`example.com localhost 1.1.1 16843009 0x1.1.1.1 01.1.1.1 1.1.1.1. 1.1.1.1:80 1.1.1.1/32 1.1.1.256 １.1.1.1
      2606:4700::1%eth0 [2606:4700::1%25eth0] fe80::1%lo 2606:4700:::1 2606:4700 [1.1.1.1 [2606:4700::12
      12606:4700::1] [[2606:4700::1]] ::g`),
  ])('forbids %j, which is not an address', (text) => expect(isForbiddenAddress(text)).toBe(true));
  it('reads every spelling of an IPv6 address', () => {
    for (const text of words('2606:4700::1111 2606:4700:0:0:0:0:0:1111 2606:4700:0000::0.0.17.17 2606:4700::ABCD')) {
      expect(isForbiddenAddress(text)).toBe(false);
      expect(isForbiddenAddress(`[${text}]`)).toBe(false);
    }
    for (const text of words('0:0:0:0:0:0:0:1 ::0001 0::1 ::0.0.0.1 FE80::1 ::FFFF:7F00:1')) {
      expect(isForbiddenAddress(text)).toBe(true);
    }
  });
});

const CONTROLS = words(String.raw`\u{0} \u{1b} \u{7f} \u{85} \u{9f}`).concat('\t', '\n', '\v', '\f', '\r', ' ');
const BLANKS = words(String.raw`\u{a0} \u{1680} \u{180e} \u{2003} \u{200b} \u{2028} \u{2029} \u{202f} \u{205f} \u{2060}
  \u{3000} \u{feff} \u{d800} \u{dfff}`);
const withinUrl = (char: string) =>
  words(
    '°https://a.example/ https°://a.example/ https:/°/a.example/ https://a.ex°ample/ https://a.example/x° ?x=° #°',
  ).map((url) => url.replace(/^(?=[?#])/, 'https://a.example/').replace('°', char));

const REJECTED: [family: string, because: RegExp, urls: string[]][] = [
  [
    'no or another scheme, or no host',
    /start with http/,
    words(`example.com //example.com/ /hook ws://example.com/ gopher://example.com/ file:///etc/passwd data:text/plain,x
      blob:https://example.com/1 http http: http:/ http:// http:/// httpx://a.b/ https://?x https://#x
      view-source:http://example.com/ jar:http://example.com!/`),
  ],
  [
    'slashes that parsers read differently',
    /start with http/,
    words(String.raw`http:\\example.com http:/\example.com https:/example.com https:example.com https:///example.com
      https://\example.com https://example.com\@127.0.0.1/ https://example.com\hook https://example.com\
      https://127.0.0.1\@example.com/ https://user\@example.com/`),
  ],
  [
    'user info',
    /user name/,
    words(`https://user@example.com/ https://:pw@example.com/ https://:@example.com/ https://a@b@example.com/ http://@
      https://example.com@10.0.0.1/ https://10.0.0.1@example.com/ http://a:80@example.com HTTP://X@example.com
      https://user%40x@example.com https://user@[::1]/`),
  ],
  ['control characters', /whitespace or control/, CONTROLS.flatMap(withinUrl)],
  ['whitespace of any kind', /whitespace or control/, BLANKS.flatMap(withinUrl)],
  [
    'other ports',
    /port 80 or 443/,
    words(`https://example.com:8443/ http://example.com:0/ http://example.com:8/ http://example.com:081/
      http://example.com:4430/ http://example.com:65535/ http://8.8.8.8:22 http://[2606:4700::1]:81/`),
  ],
  [
    'what no parser takes',
    /valid/,
    words(`http://example.com:65536/ http://example.com:-1/ http://example.com:80:80/ http://example.com:4a/ http://:80/
      http://example.com:４４３/ http://256.1.1.1/ http://1.2.3.4.5/ http://08.1.1.1/ http://1.1.1.0x100/
      http://4294967296/ http://foo.127.0.0.1/ http://foo.0x7f/ http://127.0.0.1.foo.1/ http://[::1/ http://::1/
      http://[::1%25eth0]/ http://[fe80::1%eth0]/ http://[::ffff:127.1]/ http://[v1.x]/ http://[]/ http://[127.0.0.1]/
      http://exa%00mple.com/ http://exa%20mple.com/ http://a%40b.example/ http://a＠b.example/ http://a<b.example/
      http://%25%36%63ocalhost/ http://xn--/ http://xn--a/ http://exam%zzple.com/ http://a^b.example/`),
  ],
  [
    'forbidden IPv4 in other spellings',
    /private, local or reserved/,
    words(String.raw`http://0/ http://00/ http://0x/ http://0x0 http://127.1 http://127.0.1 http://0177.1 http://0x7F.1
      http://2130706433:80/ http://017700000001/ http://0x7f.0x0.0x0.0x1/ http://0000000000177.0.0.01/ http://10.1
      http://3232235777/ http://192.168.257/ http://0xA9FEA9FE/ http://2852039166/ http://169.254.43518/
      http://0xa9.254.0251.254/ http://127.0.0.1./ http://127.1./ http://2130706433./ http://１２７.0.0.1/
      http://１２７。０。０。１/ http://①②⑦.0.0.1/ http://127．0．0．1/ http://127｡1/ http://%31%32%37.0.0.1/
      http://127%2e0%2e0%2e1/ http://%30%78%37%66%2e1 http://0Ⅹ7f.1/ http://0xA83F8110/ http://4294967295
      http://0xffffffff/ http://𝟏𝟐𝟕.𝟎.𝟎.𝟏/ http://127.0.0.1\u{ad}/ http://¹⁰.0.0.1/ http://%EF%BC%91%EF%BC%90.1`),
  ],
  [
    'forbidden IPv6 and embedded IPv4',
    /private, local or reserved/,
    words(`http://[::]/ http://[0:0:0:0:0:0:0:1]:443/ http://[::127.0.0.1]/ http://[::ffff:0:7f00:1]/
      http://[::FFFF:169.254.169.254]/ http://[::ffff:8.8.8.8]/ http://[::8.8.8.8]/ http://[64:ff9b::8.8.8.8]/
      http://[64:ff9b:1::10.0.0.1]/ http://[64:ff9b:1:a00:0:100::]/ http://[2002:7f00:1::]/ http://[2002:808:808::1]/
      http://[2001:0:53aa:64c:0:0:80ff:fffe]/ http://[2001::1]/ http://[fd00:ec2::254]/ http://[fe80::1]
      http://[ff02::fb]/ http://[2001:DB8::1]/ http://[3fff::1]/`),
  ],
  [
    'forbidden hosts',
    /local or cloud metadata host/,
    words(String.raw`http://localhost http://localhost:80/ https://LocalHost:443/ http://localhost./ http://a.localhost/
      http://a.b.LOCALHOST./ http://printer.local/ http://a.printer.LOCAL./ http://db.internal/ http://METADATA.GOOGLE.INTERNAL
      http://metadata.google.internal:80/x http://ip-10-0-0-1.ec2.internal/ http://metadata/ http://metadata./
      http://Metadata/computeMetadata/v1/ http://instance-data/ http://instance-data./latest http://INSTANCE-DATA:80
      http://instance-data.ec2.internal/ http://xn--bcher-kva.local/ http://%6c%6f%63%61%6c%68%6f%73%74/
      http://localhost%2e/ http://local%68ost http://metadata%2Egoogle%2Einternal/ http://%4D%65tadata/
      http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/ http://ｌｏｃａｌｈｏｓｔ/ http://localho\u{17f}t/ http://loc\u{ad}alhost/ http://ℒocalhost/
      http://a。localhost/ http://localhost。/ http://metadata．google．internal/ http://metadata｡google｡internal｡/
      http://ⓜetadata/ http://bücher.internal/ http://%EF%BD%8Cocalhost/ http://𝓵𝓸𝓬𝓪𝓵𝓱𝓸𝓼𝓽/ http://x.ⅼocalhost/
      http://instance－data/ http://pﬁ.local/`),
  ],
  [
    'host names that DNS cannot have',
    /valid host name/,
    words(`http://localhost../ http://.localhost/ http://127.0.0.1../ http://a..b.example/ http://./ http://../
      http://.example.com/ http://${'a'.repeat(64)}.example/ http://${'a.'.repeat(130)}example/ http://exa*mple.com/
      http://a,b.example/ http://$(id).example/ http://xn--localhost-/ http://a.xn--localhost-/ http://xn--metadata-/
      http://127.0.0.xn--1-/ http://xn--internal-.example/`),
  ],
  [
    'too long',
    /at most 2048 characters/,
    [`https://example.com/${'a'.repeat(2029)}`, `https://example.com/${'🪝'.repeat(2029)}`, ' '.repeat(1_000_000)],
  ],
];

const ALLOWED = words(String.raw`
  https://example.com HTTPS://EXAMPLE.COM/ https://example.com?x=1 https://example.com#x https://example.com./hook
  http://example.com: http://example.com:/ https://example.com:80/ http://example.com:0443/ https://example.com:00000080/
  https://example.com/a@b https://example.com/?u=http://user@host https://example.com/#@ https://example.com//user@host/x
  https://example.com?@127.0.0.1/ https://example.com#@127.0.0.1/ https://example.com/http://localhost/ https://local/
  https://example.com/a\b https://example.com/?a\b https://example.com/%20%0a%00 https://example.com/bücher?q=日本#é
  https://bücher.example/ https://XN--BCHER-KVA.example/ https://ex%61mple.com/ https://日本語。example/ https://internal/
  https://xn--i-7iq.ws/ https://straße.example/ https://xn--strae-oqa.example/ https://my_hook.example.com/ https://1e100.example/
  https://a--b.example/ https://-a.example/ https://r3---sn-x.example/ https://notlocalhost/ https://localhost.example.com/
  https://mylocal/ https://internal.example/ https://metadata.example.com/ https://instance-data.example/
  https://intranet/ https://localhosts/ https://metadata2/ https://metadata.google.com/ https://0x8.8.8.8/
  https://134744072/ http://8.8.2056/ https://[2606:4700:4700::1111]/hook https://[2606:4700:4700::1111]:443/
  https://127.0.0.1.example.com/ https://0x7f.1.example/ https://10-0-0-1.example/ https://${'a'.repeat(63)}.example/
  https://example.com/${'a'.repeat(2028)} https://example.com/${'🪝'.repeat(2028)}`);

describe('findUrlFault', () => {
  describe.each(REJECTED)('rejects %s', (_family, because, urls) => {
    it.each(urls)('%j', (url) => expect(faultOf(url)).toMatch(because));
  });
  it.each(ALLOWED)('allows %j', (url) => expect(faultOf(url)).toBeNull());

  describe('with allowed hosts', () => {
    const allowed = new Set(words('localhost:9000 127.0.0.1:80 [::1]:8443 hooks.local:443 example.com:8080'));
    it.each(
      words(`http://localhost:9000/ https://LOCALHOST:9000/x http://127.0.0.1/ http://127.0.0.1:80/ http://127.1:080/
        https://127.0.0.1:80/ http://[::1]:8443/ https://[0:0::1]:8443/ https://hooks.local/ http://hooks.local:443/
        http://example.com:8080/`),
    )('exempts %s', (url) => expect(findUrlFault(url, allowed)).toBeNull());
    it.each([
      ` http://localhost:9000/`,
      `http://localhost:9000/${'a'.repeat(2048)}`,
      ...words(`http://localhost/ http://localhost:9001/ http://localhost.:9000/ http://a.localhost:9000/ http://[::1]/
        https://127.0.0.1/ http://127.0.0.2/ http://hooks.local/ http://example.com:8081/ ftp://localhost:9000/
        http://u@localhost:9000/ http:localhost:9000/`),
    ])('does not exempt %j', (url) => expect(findUrlFault(url, allowed)).not.toBeNull());
  });
});

/** Converts an address to a number, independently of the code under test. The properties compare with it. */
function numberOf(address: string): bigint {
  if (!address.includes(':')) return address.split('.').reduce((sum, part) => sum * 256n + BigInt(part), 0n);
  const [, start, tailIpv4] = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(address) ?? [];
  if (start !== undefined) return numberOf(`${start}0:0`) + numberOf(tailIpv4!);
  const [head = [], tail = []] = address.split('::').map((side) => side.split(':').filter(Boolean));
  const zeros = Array<string>(8 - head.length - tail.length).fill('0');
  return [...head, ...zeros, ...tail].reduce((sum, group) => sum * 65536n + BigInt(`0x${group}`), 0n);
}
const numbersOf = (ranges: [string, string][]) =>
  ranges.map(([first, last]) => [numberOf(first), numberOf(last)] as const);
const IPV4_RANGES = numbersOf(FORBIDDEN_RANGES.filter(([first]) => !first.includes(':')));
const IPV6_RANGES = numbersOf(FORBIDDEN_RANGES.filter(([first]) => first.includes(':')));
const isWithin = (ranges: typeof IPV4_RANGES, value: bigint) =>
  ranges.some(([first, last]) => value >= first && value <= last);

describe('properties', () => {
  const dotted = (ip: number) => [24, 16, 8, 0].map((shift) => (ip >>> shift) & 255).join('.');
  const hex = (number: number) => number.toString(16);
  const groups = (ip: number) => `${hex(ip >>> 16)}:${hex(ip & 0xffff)}`;
  const inForbiddenRange = fc
    .constantFrom(...IPV4_RANGES)
    .chain(([first, last]) => fc.integer({ min: Number(first), max: Number(last) }));
  const ipv4 = fc.oneof(fc.integer({ min: 0, max: 0xffffffff }), inForbiddenRange);

  /** One to four parts, each in radix 8, 10 or 16, with plain, percent-encoded or full-width characters. */
  const spelling = fc.record({
    parts: fc.integer({ min: 1, max: 4 }),
    prefixes: fc.array(fc.constantFrom('', '0', '000', '0x', '0X', '0x00'), { minLength: 4, maxLength: 4 }),
    dot: fc.constantFrom('.', '。', '．', '｡', '%2e', '%2E', '%E3%80%82'),
    isTrailed: fc.boolean(),
    disguises: fc.array(fc.constantFrom('plain', 'percent', 'wide'), { minLength: 1, maxLength: 8 }),
  });
  type Spelling = typeof spelling extends fc.Arbitrary<infer T> ? T : never;
  function spell(ip: number, { parts, prefixes, dot, isTrailed, disguises }: Spelling): string {
    const bytes = dotted(ip).split('.').map(Number);
    const last = bytes.slice(parts - 1).reduce((sum, byte) => sum * 256 + byte, 0);
    const texts = [...bytes.slice(0, parts - 1), last].map((number, index) => {
      const prefix = prefixes[index]!;
      return prefix + number.toString(prefix === '' ? 10 : prefix.includes('x') || prefix.includes('X') ? 16 : 8);
    });
    const disguise = (char: string, index: number) => {
      const way = disguises[index % disguises.length];
      if (way === 'plain') return char;
      return way === 'wide' ? String.fromCharCode(char.charCodeAt(0) + 0xfee0) : `%${hex(char.charCodeAt(0))}`;
    };
    return texts.map((text) => [...text].map(disguise).join('')).join(dot) + (isTrailed ? dot : '');
  }

  it('any spelling of an IPv4 address is judged as that address', () => {
    const around = fc.tuple(
      fc.constantFrom('http://', 'HTTPS://'),
      fc.constantFrom('', ':80', ':0443', '/x', '?x', '#x'),
    );
    fc.assert(
      fc.property(ipv4, spelling, around, (ip, how, [scheme, rest]) => {
        const isForbidden = isWithin(IPV4_RANGES, BigInt(ip));
        expect(faultOf(scheme + spell(ip, how) + rest) !== null).toBe(isForbidden);
        expect(isForbiddenAddress(dotted(ip))).toBe(isForbidden);
      }),
      { numRuns: 3000 },
    );
  });

  it('an IPv6 address that embeds a forbidden IPv4 address is forbidden in every form', () => {
    const forms: ((ip: number) => string)[] = [
      (ip) => `::ffff:${dotted(ip)}`,
      (ip) => `0:0:0:0:0:FFFF:${groups(ip)}`,
      (ip) => `::${dotted(ip)}`,
      (ip) => `::ffff:0:${groups(ip)}`,
      (ip) => `64:ff9b::${dotted(ip)}`,
      (ip) => `64:FF9B:0:0:0:0:${groups(ip)}`,
      (ip) => `64:ff9b:1::${dotted(ip)}`,
      (ip) => `64:ff9b:1:${hex(ip >>> 16)}:${hex((ip >>> 8) & 255)}:${hex((ip & 255) << 8)}::`,
      (ip) => `2002:${groups(ip)}:0:0:0:0:1`,
      (ip) => `2001:0:${groups(ip)}:8000:ffff:f5ff:fffe`,
      (ip) => `2001::${groups(~ip >>> 0)}`,
    ];
    fc.assert(
      fc.property(ipv4, fc.constantFrom(...forms), (ip, form) => {
        expect(isForbiddenAddress(form(ip))).toBe(true);
        expect(faultOf(`https://[${form(ip)}]/`)).not.toBeNull();
      }),
      { numRuns: 2000 },
    );
  });

  it('any IPv6 address is judged by its value, whatever its spelling', () => {
    const nearSpecial = fc
      .tuple(
        fc.constantFrom(
          ...words('2001:0 2001:1 2001:2 2001:3 2001:4 2001:10 2001:20 2001:db8 2002:1 3fff:1 3fff:1000'),
        ),
        fc.array(fc.integer({ min: 0, max: 0xffff }).map(hex), { minLength: 6, maxLength: 6 }),
      )
      .map(([start, rest]) => `${start}:${rest.join(':')}`);
    fc.assert(
      fc.property(fc.oneof(fc.ipV6(), nearSpecial), (address) => {
        const value = numberOf(address);
        const isForbidden = value >> 125n !== 1n || isWithin(IPV6_RANGES, value);
        expect(isForbiddenAddress(address)).toBe(isForbidden);
        expect(faultOf(`https://[${address}]/`) !== null).toBe(isForbidden);
      }),
      { numRuns: 3000 },
    );
  });

  it('no text makes it throw, and it accepts plain URLs only', () => {
    const noise = fc.string({ unit: character, maxLength: 30 });
    const piece = fc.constantFrom(...words(String.raw`http s : / \ @ . [ ] % ? # 127 0x localhost xn-- ⓛ 。`));
    const mixed = fc.array(fc.oneof(piece, noise)).map((pieces) => pieces.join(''));
    const hosted = fc
      .oneof(
        fc.constantFrom(...words('8.8.8.8 134744072 0x8.8.8.8 [2606:4700::1111] [::ffff:8.8.8.8] 010.1.1.1')),
        fc.array(piece).map((pieces) => pieces.join('')),
        noise,
      )
      .map((host) => `https://${host}`);
    fc.assert(
      fc.property(fc.oneof(mixed, hosted, webAddress), (url) => {
        isForbiddenAddress(url);
        if (faultOf(url) !== null) return;
        const { protocol, port, username, password, hostname } = new URL(url);
        expect(protocol).toMatch(/^https?:$/);
        expect(port).toMatch(/^(80|443)?$/);
        expect(username + password).toBe('');
        expect(hostname).not.toMatch(/(^|\.)localhost\.?$|.\.(local|internal)\.?$|^(metadata|instance-data)\.?$/);
        if (/^[\d.]+$|^\[/.test(hostname)) expect(isForbiddenAddress(hostname)).toBe(false);
      }),
      { numRuns: 5000 },
    );
  });
});
