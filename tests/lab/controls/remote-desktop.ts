import { type Control, defineControl } from '../people/control';
import { openRemoteWindow } from '../people/rdp';
import { connectRemotely, type Link } from '../people/remote-desktop';

// Somebody who works on a computer far away: over a VNC client and server, with links that are a model (one as in the same city, and one
// that holds packets back), and over RDP, with a link that holds nothing back.

const over = (name: string, link: Link): Control => ({
  ...{ name, family: 'remote-desktop', needs: ['x11vnc'] },
  connect: (screen, { seed }) => connectRemotely(screen, link, seed),
});

export const subjects = [
  defineControl(over('remote-desktop', { moveMs: 33, stallRate: 0.02, stallMs: 120 })),
  defineControl(over('remote-desktop-slow', { moveMs: 140, stallRate: 0.08, stallMs: 500 })),
  defineControl({
    ...{ name: 'remote-desktop-rdp', family: 'remote-desktop', needs: ['freerdp-shadow-cli', 'xfreerdp'] },
    connect: openRemoteWindow,
  }),
];
