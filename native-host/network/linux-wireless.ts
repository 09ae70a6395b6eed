// The name of a wireless network on Linux, from whichever tool is available; none of them needs privileges to read it.
import type { RunCommand } from './command.ts';

/** `iw` escapes special bytes as `\xNN`. */
function unescaped(text: string): string {
  const bytes: number[] = [];
  for (let at = 0; at < text.length; ) {
    const [whole, digits] = /^\\x([0-9a-f]{2})/i.exec(text.slice(at, at + 4)) ?? [];
    if (whole !== undefined && digits !== undefined) bytes.push(Number.parseInt(digits, 16));
    else bytes.push(...Buffer.from(text[at] ?? ''));
    at += whole?.length ?? 1;
  }
  return Buffer.from(bytes).toString();
}

/** From `iw dev DEVICE link`; empty if not connected. */
export function ssidOfIw(output: string): string {
  const [, ssid = ''] = /^\s*SSID: (.+)$/m.exec(output) ?? [];
  return unescaped(ssid);
}

/** From `nmcli --terse --fields IN-USE,SSID device wifi list`, in which `\` escapes `:` and itself. */
export function ssidOfNmcli(output: string): string {
  const [, ssid = ''] = /^\*:(.*)$/m.exec(output) ?? [];
  return ssid.replaceAll(/\\(.)/g, '$1');
}

/** From `iwgetid --raw DEVICE`. */
export function ssidOfIwgetid(output: string): string {
  return output.replace(/\n$/, '');
}

/** The network of a wireless interface; empty if no tool reports it. */
export async function readSsid(run: RunCommand, device: string): Promise<string> {
  const link = await run('iw', ['dev', device, 'link']);
  if (link !== null) return ssidOfIw(link);
  const fields = ['--terse', '--fields', 'IN-USE,SSID'];
  const list = await run('nmcli', [...fields, 'device', 'wifi', 'list', 'ifname', device, '--rescan', 'no']);
  if (list !== null) return ssidOfNmcli(list);
  return ssidOfIwgetid((await run('iwgetid', ['--raw', device])) ?? '');
}
