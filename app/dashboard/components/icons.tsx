import { createElement, Fragment } from 'react';

// The icons of the dashboard. They come from Lucide 1.75, whose package has thousands and takes 51 MB. To add one, copy its
// shapes from the file of its name in Lucide's repository. A name ends in `Icon` where something else has the short one.

/* Lucide's licence (ISC):

Copyright (c) 2026 Lucide Icons and Contributors

Permission to use, copy, modify, and/or distribute this software for any
purpose with or without fee is hereby granted, provided that the above
copyright notice and this permission notice appear in all copies.

THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES
WITH REGARD TO THIS SOFTWARE INCLUDING ALL IMPLIED WARRANTIES OF
MERCHANTABILITY AND FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR
ANY SPECIAL, DIRECT, INDIRECT, OR CONSEQUENTIAL DAMAGES OR ANY DAMAGES
WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER IN AN
ACTION OF CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF
OR IN CONNECTION WITH THE USE OR PERFORMANCE OF THIS SOFTWARE.

Lucide took many of its icons from Feather, whose licence (MIT) holds for these: arrow-down, arrow-up, check, chevron-down,
chevron-left, chevron-right, circle-alert, circle-minus, circle-pause, circle-x, clock, download, external-link, log-out,
minus, monitor, moon, plus, search, table-2, trash-2, triangle-alert, x.

Copyright (c) 2013-present Cole Bemis

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE. */

/** The `d` of a path, or another element with its attributes. */
type Shape = string | ['circle' | 'line' | 'rect', Record<string, number | string>];

interface IconProps {
  /** Width and height in pixels. */
  size?: number;
  className?: string;
  'aria-hidden'?: true;
  'aria-label'?: string;
}

const toElement = (shape: Shape) => (typeof shape === 'string' ? <path d={shape} /> : createElement(...shape));

function createIcon(...shapes: Shape[]) {
  const children = createElement(Fragment, null, ...shapes.map(toElement));
  /** Without a label it is for eyes only. */
  return function Icon({ size = 24, className, 'aria-label': label }: IconProps) {
    return (
      <svg
        xmlns="http://www.w3.org/2000/svg"
        width={size}
        height={size}
        viewBox="0 0 24 24"
        fill="none"
        stroke="currentColor"
        strokeWidth={2}
        strokeLinecap="round"
        strokeLinejoin="round"
        className={className}
        aria-hidden={label === undefined ? true : undefined}
        aria-label={label}
      >
        {children}
      </svg>
    );
  };
}

export const ArrowDown = createIcon('M12 5v14', 'm19 12-7 7-7-7');
export const ArrowUp = createIcon('m5 12 7-7 7 7', 'M12 19V5');
export const BellRing = createIcon(
  'M10.268 21a2 2 0 0 0 3.464 0',
  'M22 8c0-2.3-.8-4.3-2-6',
  'M3.262 15.326A1 1 0 0 0 4 17h16a1 1 0 0 0 .74-1.673C19.41 13.956 18 12.499 18 8A6 6 0 0 0 6 8c0 4.499-1.411 5.956-2.738 7.326',
  'M4 2C2.8 3.7 2 5.7 2 8',
);
export const BookOpen = createIcon(
  'M12 5v16',
  'M20.001 19A2 2 0 0022 17V5a2 2 0 00-1.999-2L16 3.002A5 5 0 0012 5a5 5 0 00-4-2H4a2 2 0 00-2 2v12a2 2 0 001.999 2H8a5 5 0 014 2 5 5 0 014-2z',
);
export const Bookmark = createIcon(
  'M17 3a2 2 0 0 1 2 2v15a1 1 0 0 1-1.496.868l-4.512-2.578a2 2 0 0 0-1.984 0l-4.512 2.578A1 1 0 0 1 5 20V5a2 2 0 0 1 2-2z',
);
export const ChartColumn = createIcon('M3 3v16a2 2 0 0 0 2 2h16', 'M18 17V9', 'M13 17V5', 'M8 17v-3');
export const Check = createIcon('M20 6 9 17l-5-5');
export const ChevronDown = createIcon('m6 9 6 6 6-6');
export const ChevronLeft = createIcon('m15 18-6-6 6-6');
export const ChevronRight = createIcon('m9 18 6-6-6-6');
export const ChevronsUpDown = createIcon('m7 15 5 5 5-5', 'm7 9 5-5 5 5');
export const CircleAlert = createIcon(
  ['circle', { cx: 12, cy: 12, r: 10 }],
  ['line', { x1: 12, x2: 12, y1: 8, y2: 12 }],
  ['line', { x1: 12, x2: 12.01, y1: 16, y2: 16 }],
);
export const CircleCheck = createIcon(['circle', { cx: 12, cy: 12, r: 10 }], 'm16 9-5.5 5.5L8 12');
export const CircleDashed = createIcon(
  'M10.1 2.182a10 10 0 0 1 3.8 0',
  'M13.9 21.818a10 10 0 0 1-3.8 0',
  'M17.609 3.721a10 10 0 0 1 2.69 2.7',
  'M2.182 13.9a10 10 0 0 1 0-3.8',
  'M20.279 17.609a10 10 0 0 1-2.7 2.69',
  'M21.818 10.1a10 10 0 0 1 0 3.8',
  'M3.721 6.391a10 10 0 0 1 2.7-2.69',
  'M6.391 20.279a10 10 0 0 1-2.69-2.7',
);
export const CircleMinus = createIcon(['circle', { cx: 12, cy: 12, r: 10 }], 'M8 12h8');
export const CirclePause = createIcon(
  ['circle', { cx: 12, cy: 12, r: 10 }],
  ['line', { x1: 10, x2: 10, y1: 15, y2: 9 }],
  ['line', { x1: 14, x2: 14, y1: 15, y2: 9 }],
);
export const CircleSlash = createIcon(
  ['circle', { cx: 12, cy: 12, r: 10 }],
  ['line', { x1: 9, x2: 15, y1: 15, y2: 9 }],
);
export const CircleX = createIcon(['circle', { cx: 12, cy: 12, r: 10 }], 'm15 9-6 6', 'm9 9 6 6');
export const Clock = createIcon(['circle', { cx: 12, cy: 12, r: 10 }], 'M12 6v6l4 2');
export const Copy = createIcon(
  ['rect', { width: 14, height: 14, x: 8, y: 8, rx: 2, ry: 2 }],
  'M4 16c-1.1 0-2-.9-2-2V4c0-1.1.9-2 2-2h10c1.1 0 2 .9 2 2',
);
export const Download = createIcon('M12 15V3', 'M21 15v4a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2v-4', 'm7 10 5 5 5-5');
export const ExternalLink = createIcon(
  'M15 3h6v6',
  'M10 14 21 3',
  'M18 13v6a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2V8a2 2 0 0 1 2-2h6',
);
export const FileText = createIcon(
  'M6 22a2 2 0 0 1-2-2V4a2 2 0 0 1 2-2h8a2.4 2.4 0 0 1 1.704.706l3.588 3.588A2.4 2.4 0 0 1 20 8v12a2 2 0 0 1-2 2z',
  'M14 2v5a1 1 0 0 0 1 1h5',
  'M10 9H8',
  'M16 13H8',
  'M16 17H8',
);
export const Gauge = createIcon('m12 14 4-4', 'M3.34 19a10 10 0 1 1 17.32 0');
export const Gavel = createIcon(
  'm14 13-8.381 8.38a1 1 0 0 1-3.001-3l8.384-8.381',
  'm16 16 6-6',
  'm21.5 10.5-8-8',
  'm8 8 6-6',
  'm8.5 7.5 8 8',
);
export const KeyRound = createIcon(
  'M2.586 17.414A2 2 0 0 0 2 18.828V21a1 1 0 0 0 1 1h3a1 1 0 0 0 1-1v-1a1 1 0 0 1 1-1h1a1 1 0 0 0 1-1v-1a1 1 0 0 1 1-1h.172a2 2 0 0 0 1.414-.586l.814-.814a6.5 6.5 0 1 0-4-4z',
  ['circle', { cx: 16.5, cy: 7.5, r: '.5', fill: 'currentColor' }],
);
export const Keyboard = createIcon(
  'M10 8h.01',
  'M12 12h.01',
  'M14 8h.01',
  'M16 12h.01',
  'M18 8h.01',
  'M6 8h.01',
  'M7 16h10',
  'M8 12h.01',
  ['rect', { width: 20, height: 16, x: 2, y: 4, rx: 2 }],
);
export const LayoutDashboard = createIcon(
  ['rect', { width: 7, height: 9, x: 3, y: 3, rx: 1 }],
  ['rect', { width: 7, height: 5, x: 14, y: 3, rx: 1 }],
  ['rect', { width: 7, height: 9, x: 14, y: 12, rx: 1 }],
  ['rect', { width: 7, height: 5, x: 3, y: 16, rx: 1 }],
);
export const Library = createIcon('m16 6 4 14', 'M12 6v14', 'M8 8v12', 'M4 4v16');
export const ListChecks = createIcon('M13 5h8', 'M13 12h8', 'M13 19h8', 'm3 17 2 2 4-4', 'm3 7 2 2 4-4');
export const ListFilter = createIcon('M2 5h20', 'M6 12h12', 'M9 19h6');
export const LogOut = createIcon('m16 17 5-5-5-5', 'M21 12H9', 'M9 21H5a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2h4');
export const MenuIcon = createIcon('M4 5h16', 'M4 12h16', 'M4 19h16');
export const Minus = createIcon('M5 12h14');
export const Monitor = createIcon(
  ['rect', { width: 20, height: 14, x: 2, y: 3, rx: 2 }],
  ['line', { x1: 8, x2: 16, y1: 21, y2: 21 }],
  ['line', { x1: 12, x2: 12, y1: 17, y2: 21 }],
);
export const Moon = createIcon(
  'M20.985 12.486a9 9 0 1 1-9.473-9.472c.405-.022.617.46.402.803a6 6 0 0 0 8.268 8.268c.344-.215.825-.004.803.401',
);
export const MousePointerClick = createIcon(
  'M14 4.1 12 6',
  'm5.1 8-2.9-.8',
  'm6 12-1.9 2',
  'M7.2 2.2 8 5.1',
  'M9.037 9.69a.498.498 0 0 1 .653-.653l11 4.5a.5.5 0 0 1-.074.949l-4.349 1.041a1 1 0 0 0-.74.739l-1.04 4.35a.5.5 0 0 1-.95.074z',
);
export const PauseIcon = createIcon(
  ['rect', { x: 14, y: 3, width: 5, height: 18, rx: 1 }],
  ['rect', { x: 5, y: 3, width: 5, height: 18, rx: 1 }],
);
export const Play = createIcon('M5 5a2 2 0 0 1 3.008-1.728l11.997 6.998a2 2 0 0 1 .003 3.458l-12 7A2 2 0 0 1 5 19z');
export const Plus = createIcon('M5 12h14', 'M12 5v14');
export const Printer = createIcon(
  'M6 18H4a2 2 0 0 1-2-2v-5a2 2 0 0 1 2-2h16a2 2 0 0 1 2 2v5a2 2 0 0 1-2 2h-2',
  'M6 9V3a1 1 0 0 1 1-1h10a1 1 0 0 1 1 1v6',
  ['rect', { x: 6, y: 14, width: 12, height: 8, rx: 1 }],
);
export const RefreshCw = createIcon(
  'M3 12a9 9 0 0 1 9-9 9.75 9.75 0 0 1 6.74 2.74L21 8',
  'M21 3v5h-5',
  'M21 12a9 9 0 0 1-9 9 9.75 9.75 0 0 1-6.74-2.74L3 16',
  'M8 16H3v5',
);
export const RotateCw = createIcon('M21 12a9 9 0 1 1-9-9c2.52 0 4.93 1 6.74 2.74L21 8', 'M21 3v5h-5');
export const Search = createIcon('m21 21-4.34-4.34', ['circle', { cx: 11, cy: 11, r: 8 }]);
export const SettingsIcon = createIcon(
  'M9.671 4.136a2.34 2.34 0 0 1 4.659 0 2.34 2.34 0 0 0 3.319 1.915 2.34 2.34 0 0 1 2.33 4.033 2.34 2.34 0 0 0 0 3.831 2.34 2.34 0 0 1-2.33 4.033 2.34 2.34 0 0 0-3.319 1.915 2.34 2.34 0 0 1-4.659 0 2.34 2.34 0 0 0-3.32-1.915 2.34 2.34 0 0 1-2.33-4.033 2.34 2.34 0 0 0 0-3.831A2.34 2.34 0 0 1 6.35 6.051a2.34 2.34 0 0 0 3.319-1.915',
  ['circle', { cx: 12, cy: 12, r: 3 }],
);
export const ShieldCheck = createIcon(
  'M20 13c0 5-3.5 7.5-7.66 8.95a1 1 0 0 1-.67-.01C7.5 20.5 4 18 4 13V6a1 1 0 0 1 1-1c2 0 4.5-1.2 6.24-2.72a1.17 1.17 0 0 1 1.52 0C14.51 3.81 17 5 19 5a1 1 0 0 1 1 1z',
  'm9 12 2 2 4-4',
);
export const SkipBack = createIcon(
  'M17.971 4.285A2 2 0 0 1 21 6v12a2 2 0 0 1-3.029 1.715l-9.997-5.998a2 2 0 0 1-.003-3.432z',
  'M3 20V4',
);
export const SkipForward = createIcon(
  'M21 4v16',
  'M6.029 4.285A2 2 0 0 0 3 6v12a2 2 0 0 0 3.029 1.715l9.997-5.998a2 2 0 0 0 .003-3.432z',
);
export const Sun = createIcon(
  ['circle', { cx: 12, cy: 12, r: 4 }],
  'M12 2v2',
  'M12 20v2',
  'm4.93 4.93 1.41 1.41',
  'm17.66 17.66 1.41 1.41',
  'M2 12h2',
  'M20 12h2',
  'm6.34 17.66-1.41 1.41',
  'm19.07 4.93-1.41 1.41',
);
export const Table2 = createIcon('M3 9h18', 'M9 3v18', ['rect', { x: 3, y: 3, width: 18, height: 18, rx: 2 }]);
export const Trash2 = createIcon(
  'M10 11v6',
  'M14 11v6',
  'M19 6v14a2 2 0 0 1-2 2H7a2 2 0 0 1-2-2V6',
  'M3 6h18',
  'M8 6V4a2 2 0 0 1 2-2h4a2 2 0 0 1 2 2v2',
);
export const TriangleAlert = createIcon(
  'm21.73 18-8-14a2 2 0 0 0-3.48 0l-8 14A2 2 0 0 0 4 21h16a2 2 0 0 0 1.73-3',
  'M12 9v4',
  'M12 17h.01',
);
export const UserCheck = createIcon('m16 11 2 2 4-4', 'M16 21v-2a4 4 0 0 0-4-4H6a4 4 0 0 0-4 4v2', [
  'circle',
  { cx: 9, cy: 7, r: 4 },
]);
export const UsersIcon = createIcon(
  'M16 21v-2a4 4 0 0 0-4-4H6a4 4 0 0 0-4 4v2',
  'M16 3.128a4 4 0 0 1 0 7.744',
  'M22 21v-2a4 4 0 0 0-3-3.87',
  ['circle', { cx: 9, cy: 7, r: 4 }],
);
export const WebhookIcon = createIcon(
  'M18 16.98h-5.99c-1.1 0-1.95.94-2.48 1.9A4 4 0 0 1 2 17c.01-.7.2-1.4.57-2',
  'm6 17 3.13-5.78c.53-.97.1-2.18-.5-3.1a4 4 0 1 1 6.89-4.06',
  'm12 6 3.13 5.73C15.66 12.7 16.9 13 18 13a4 4 0 0 1 0 8',
);
export const X = createIcon('M18 6 6 18', 'm6 6 12 12');
