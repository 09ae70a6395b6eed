// The network of a Windows machine, from the output of its script, in English and in German.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { factsOfAnswer, ssidOfNetsh, windowsSource } from './windows.ts';

const NETSH_ENGLISH = `
There is 1 interface on the system:

    Name                   : Wi-Fi
    Description            : Intel(R) Wi-Fi 6 AX201 160MHz
    GUID                   : 5d0e4a3c-6d1f-4f0a-9f1b-2a9f0c6f7e11
    Physical address       : 8c:c6:81:00:00:01
    Interface type         : Primary
    State                  : connected
    SSID                   : home : upstairs
    BSSID                  : 04:f0:21:00:00:01
    Network type           : Infrastructure
    Radio type             : 802.11ax
    Authentication         : WPA2-Personal
    Channel                : 36
    Profile                : home

    Hosted network status  : Not available
`;
const NETSH_GERMAN = `
Es sind 2 Schnittstellen auf dem System vorhanden:

    Name                   : WLAN 2
    Beschreibung           : Realtek RTL8812BU
    GUID                   : 00000000-6d1f-4f0a-9f1b-2a9f0c6f7e11
    Physische Adresse      : 8c:c6:81:00:00:02
    Status                 : Verbunden
    SSID                   : Nachbar
    BSSID                  : 04:f0:21:00:00:02

    Name                   : WLAN
    Beschreibung           : Intel(R) Wi-Fi 6 AX201 160MHz
    GUID                   : 5d0e4a3c-6d1f-4f0a-9f1b-2a9f0c6f7e11
    Physische Adresse      : 8c:c6:81:00:00:01
    Status                 : Verbunden
    SSID                   : Zuhause
    BSSID                  : 04:f0:21:00:00:01
    Netzwerktyp            : Infrastruktur

    Status des gehosteten Netzwerks: Nicht verfügbar
`;
const GUID = '{5D0E4A3C-6D1F-4F0A-9F1B-2A9F0C6F7E11}';

const WIFI = { index: 12, type: 71, hardware: true, guid: GUID };
const CABLE = { index: 7, type: 6, hardware: true, guid: '{00000000-0000-0000-0000-000000000007}' };
const WINTUN = { index: 40, type: 53, hardware: false, guid: '{00000000-0000-0000-0000-000000000040}' };
const HOME = {
  out: 12,
  adapters: [WIFI],
  routes: [{ index: 12, nextHop: '192.168.178.1', metric: 35 }],
  neighbours: [
    { index: 7, address: '192.168.178.1', linkLayer: '00-11-22-33-44-55' },
    { index: 12, address: '192.168.178.1', linkLayer: 'A4-91-B1-00-0E-FF' },
  ],
  wlan: NETSH_GERMAN,
};
const factsOf = (answer: object) => factsOfAnswer(JSON.stringify(answer));

test('the name belongs to the adapter in question, in any language', () => {
  assert.equal(ssidOfNetsh(NETSH_ENGLISH, GUID), 'home : upstairs');
  assert.equal(ssidOfNetsh(NETSH_GERMAN.replaceAll('\n', '\r\n'), GUID), 'Zuhause');
  assert.equal(ssidOfNetsh(NETSH_GERMAN, CABLE.guid), '');
  assert.equal(ssidOfNetsh('The Wireless AutoConfig Service (wlansvc) is not running.\n', GUID), '');
});

test('at home', () => {
  assert.deepEqual(factsOf(HOME), {
    gateway: '192.168.178.1',
    linkLayer: 'a4:91:b1:00:0e:ff',
    kind: 'wireless',
    ssid: 'Zuhause',
    tunnel: false,
  });
});

test('on Ethernet, the gateway unresolved', () => {
  const answer = {
    ...HOME,
    out: 7,
    adapters: [WIFI, CABLE],
    routes: [{ index: 7, nextHop: '10.0.0.1', metric: 25 }],
  };
  assert.deepEqual(factsOf(answer), {
    gateway: '10.0.0.1',
    linkLayer: null,
    kind: 'wired',
    ssid: '',
    tunnel: false,
  });
});

test('through a VPN the gateway is that of the best interface beneath; an unlisted adapter is a tunnel', () => {
  const tunnel = { index: 40, nextHop: '0.0.0.0', metric: 0 };
  const slower = { index: 7, nextHop: '10.0.0.1', metric: 50 };
  const answer = {
    ...HOME,
    out: 40,
    adapters: [WIFI, CABLE, WINTUN],
    routes: [tunnel, slower, ...HOME.routes],
  };
  assert.deepEqual(factsOf(answer), { ...factsOf(HOME), tunnel: true });
  assert.deepEqual(factsOf({ ...answer, adapters: [WIFI, CABLE] }), { ...factsOf(HOME), tunnel: true });
  assert.deepEqual(factsOf({ ...answer, adapters: [WINTUN], routes: [tunnel] }), {
    gateway: '',
    linkLayer: null,
    kind: 'other',
    ssid: '',
    tunnel: true,
  });
});

test('no route', () => {
  assert.equal(factsOf({ ...HOME, out: null, routes: [], neighbours: [] }), null);
});

test('PowerShell is started by its full path; silence and invalid output are errors', async () => {
  const started: string[] = [];
  const source = (output: string | null) =>
    windowsSource({
      mark: () => '',
      run: async (file) => {
        started.push(file);
        return output;
      },
    });
  assert.deepEqual(await source(JSON.stringify(HOME)).examine(), factsOf(HOME));
  assert.match(started[0] ?? '', /^[A-Z]:\\.*\\System32\\WindowsPowerShell\\v1\.0\\powershell\.exe$/i);
  await assert.rejects(source(null).examine());
  await assert.rejects(source('').examine());
  await assert.rejects(source('{"out":12}').examine());
});

test('parsing never throws, whatever netsh prints', () => {
  const words = fc.constantFrom('SSID', 'GUID', ' : ', '    ', '\n', '\r\n', GUID);
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: words }), fc.string()), (text) => {
      ssidOfNetsh(text, GUID);
    }),
  );
});
