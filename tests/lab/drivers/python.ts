import { drivePython } from '../driving/python';

// Drivers of Python, most of them made to stay unseen.

const isHeadful = true;

export const subjects = [
  drivePython({
    ...{ name: 'undetected-chromedriver', family: 'webdriver', isHeadful, files: ['/usr/bin/chromedriver'] },
  }),
  drivePython({ name: 'nodriver', family: 'devtools-protocol', isHeadful }),
  drivePython({ name: 'zendriver', family: 'devtools-protocol', isHeadful }),
  drivePython({ name: 'pydoll', family: 'devtools-protocol', isHeadful }),
];
