// The network on Windows, from one PowerShell script that outputs only numbers and addresses, because words are
// localised.
import * as v from 'valibot';
import { type InterfaceKind, linkLayerAddress, type NetworkFacts } from './key.ts';
import { interfacesMark, PUBLIC_ADDRESSES, type RunCommand, runCommand } from './system.ts';
import type { NetworkSource } from './watch.ts';

/** Another network may have given the same addresses; querying again costs half a second of one core. */
const GOOD_FOR_MS = 15_000;
/** The first PowerShell after booting takes seconds to load. */
const POWERSHELL_TIMEOUT_MS = 10_000;

/** IANA ifType: Ethernet, and IEEE 802.11. */
const ETHERNET = 6;
const WIRELESS = 71;

/**
 * Test-Connection would need no privileges either, but a neighbour is only resolved while a packet waits for it: the
 * one-byte ping resolves an unknown gateway. `netsh` writes in the console's own encoding.
 */
const SCRIPT = `
$ErrorActionPreference = 'SilentlyContinue'
$wlan = netsh wlan show interfaces | Out-String
[Console]::OutputEncoding = [Text.Encoding]::UTF8
function Out($a) { Find-NetRoute -RemoteIPAddress $a | Where-Object { $_.NextHop } | Select-Object -First 1 }
$out = Out '${PUBLIC_ADDRESSES[4]}'
if (-not $out) { $out = Out '${PUBLIC_ADDRESSES[6]}' }
$adapters = @(Get-NetAdapter -IncludeHidden | Where-Object Status -eq 'Up' | ForEach-Object { @{
  index = [int]$_.ifIndex; type = [int]$_.InterfaceType; hardware = [bool]$_.HardwareInterface; guid = [string]$_.InterfaceGuid } })
$routes = @(Get-NetRoute -DestinationPrefix '0.0.0.0/0','::/0' | ForEach-Object { @{
  index = [int]$_.ifIndex; nextHop = [string]$_.NextHop; metric = [int]$_.RouteMetric + [int]$_.InterfaceMetric } })
foreach ($r in $routes) {
  if ($r.nextHop -notin '0.0.0.0','::' -and -not (Get-NetNeighbor -InterfaceIndex $r.index -IPAddress $r.nextHop | Where-Object LinkLayerAddress -notin '','00-00-00-00-00-00')) {
    $null = (New-Object Net.NetworkInformation.Ping).Send($r.nextHop, 300, [byte[]]@(0))
  }
}
$neighbours = @(Get-NetNeighbor | Where-Object IPAddress -in $routes.nextHop | ForEach-Object { @{
  index = [int]$_.ifIndex; address = [string]$_.IPAddress; linkLayer = [string]$_.LinkLayerAddress } })
ConvertTo-Json -Compress -Depth 3 @{
  out = $(if ($out) { [int]$out.ifIndex } else { $null })
  adapters = $adapters; routes = $routes; neighbours = $neighbours; wlan = [string]$wlan }
`;

const whole = v.pipe(v.number(), v.integer());
/** Schema of the script's output. */
const answerSchema = v.object({
  /** Index of the interface by which packets leave; null: no route. */
  out: v.nullable(whole),
  adapters: v.array(v.object({ index: whole, type: whole, hardware: v.boolean(), guid: v.string() })),
  routes: v.array(v.object({ index: whole, nextHop: v.string(), metric: whole })),
  neighbours: v.array(v.object({ index: whole, address: v.string(), linkLayer: v.string() })),
  /** The complete output of `netsh wlan show interfaces`. */
  wlan: v.string(),
});

/**
 * The network of the adapter with this GUID, in the output of `netsh wlan show interfaces`. It only needs two words of
 * it that are not localised.
 */
export function ssidOfNetsh(output: string, guid: string): string {
  const bare = guid.replaceAll(/[{}]/g, '').toLowerCase();
  let ours = false;
  for (const line of output.split(/\r?\n/)) {
    const [, name = '', value = ''] = /^\s+(\S.*?)\s*: (.*)$/.exec(line) ?? [];
    if (name === 'GUID') ours = value.trim().toLowerCase() === bare;
    if (name === 'SSID' && ours) return value;
  }
  return '';
}

/** The network in the script's output; null: no route. Throws for anything else. */
export function factsOfAnswer(output: string): NetworkFacts | null {
  const { out, adapters, routes, neighbours, wlan } = v.parse(answerSchema, JSON.parse(output));
  if (out === null) return null;
  const isTunnel = (index: number): boolean => {
    const adapter = adapters.find((each) => each.index === index);
    // VPN adapters that claim to be Ethernet are not hardware; neither are those of Hyper-V, but they lead to a
    // gateway.
    if (adapter === undefined) return true;
    return adapter.type !== ETHERNET && adapter.type !== WIRELESS && !adapter.hardware;
  };
  const tunnel = isTunnel(out);
  const candidates = routes.filter(({ index }) => (tunnel ? !isTunnel(index) : index === out));
  const [route] = candidates.toSorted((a, b) => a.metric - b.metric);
  const index = tunnel ? route?.index : out;
  const adapter = adapters.find((each) => each.index === index);
  const wireless = adapter?.type === WIRELESS;
  const kind: InterfaceKind = adapter === undefined ? 'other' : wireless ? 'wireless' : 'wired';
  const nextHop = route === undefined || /^(0\.0\.0\.0|::)$/.test(route.nextHop) ? '' : route.nextHop;
  const known = neighbours.find((n) => n.index === route?.index && n.address === nextHop);
  return {
    gateway: nextHop,
    linkLayer: linkLayerAddress(known?.linkLayer ?? ''),
    kind,
    ssid: wireless ? ssidOfNetsh(wlan, adapter.guid) : '',
    tunnel,
  };
}

export interface WindowsSystem {
  /** Changes whenever addresses of interfaces do. */
  mark(): string;
  readonly run: RunCommand;
}

/** The real machine. */
export function windowsSystem(): WindowsSystem {
  return { mark: interfacesMark, run: runCommand };
}

/** By its full path, because PATH may begin with a directory that others can write to. */
function powerShell(): string {
  return `${process.env.SystemRoot ?? 'C:\\Windows'}\\System32\\WindowsPowerShell\\v1.0\\powershell.exe`;
}

/** The network of a Windows machine. */
export function windowsSource(system: WindowsSystem): NetworkSource {
  return {
    snapshot() {
      // Interfaces change on the same network too, so a known key stays valid until the answer is there.
      return { mark: system.mark(), route: '', facts: 'ask', goodForMs: GOOD_FOR_MS };
    },
    async examine() {
      const script = Buffer.from(SCRIPT, 'utf16le').toString('base64');
      const options = ['-NoLogo', '-NoProfile', '-NonInteractive', '-EncodedCommand', script];
      const output = await system.run(powerShell(), options, POWERSHELL_TIMEOUT_MS);
      if (output === null) throw new Error('PowerShell does not answer');
      return factsOfAnswer(output);
    },
  };
}
