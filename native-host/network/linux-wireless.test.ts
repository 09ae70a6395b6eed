import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readSsid, ssidOfIw, ssidOfIwgetid, ssidOfNmcli } from './linux-wireless.ts';

const IW_LINK = `Connected to 04:f0:21:33:f7:11 (on wlp3s0)
	SSID: Caf\\xc3\\xa9 am Eck
	freq: 5180
	RX: 1204834 bytes (8412 packets)
	TX: 92342 bytes (612 packets)
	signal: -52 dBm
	rx bitrate: 433.3 MBit/s VHT-MCS 9 80MHz short GI VHT-NSS 1
	tx bitrate: 433.3 MBit/s VHT-MCS 9 80MHz short GI VHT-NSS 1

	bss flags:	short-slot-time
	dtim period:	2
	beacon int:	100
`;
const NMCLI_LIST = ` :Neighbour
*:Caf\\: "am" Eck \\\\o/
 :
 :Neighbour 5
`;

test('iw: the name with its escaped bytes; none if not connected', () => {
  assert.equal(ssidOfIw(IW_LINK), 'Café am Eck');
  assert.equal(ssidOfIw('Not connected.\n'), '');
});

test('nmcli: the active row, unescaped', () => {
  assert.equal(ssidOfNmcli(NMCLI_LIST), 'Caf: "am" Eck \\o/');
  assert.equal(ssidOfNmcli(' :Neighbour\n'), '');
});

test('iwgetid: the name unchanged, including spaces', () => {
  assert.equal(ssidOfIwgetid(' two  words \n'), ' two  words ');
});

test('the answer of the first tool available is used, even if there is no name', async () => {
  const asked: string[] = [];
  const answers = (outputs: Record<string, string>) => {
    asked.length = 0;
    return async (file: string): Promise<string | null> => {
      asked.push(file);
      return outputs[file] ?? null;
    };
  };
  assert.equal(await readSsid(answers({ iw: IW_LINK, nmcli: NMCLI_LIST }), 'wlp3s0'), 'Café am Eck');
  assert.deepEqual(asked, ['iw']);
  assert.equal(await readSsid(answers({ nmcli: NMCLI_LIST }), 'wlp3s0'), 'Caf: "am" Eck \\o/');
  assert.equal(await readSsid(answers({ iwgetid: 'home\n' }), 'wlp3s0'), 'home');
  assert.equal(await readSsid(answers({}), 'wlp3s0'), '');
  assert.deepEqual(asked, ['iw', 'nmcli', 'iwgetid']);
});

test('parsing never throws, whatever the tools print', () => {
  const words = fc.constantFrom('SSID: ', '\\x', 'c3', '\\', ':', '*', '\n', '\t', 'é', '😀');
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: words }), fc.string()), (text) => {
      ssidOfIw(text);
      ssidOfNmcli(text);
      ssidOfIwgetid(text);
    }),
  );
});
