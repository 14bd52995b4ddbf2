// The words of the laboratory's pages. They are not those of the demo.

export interface Question {
  ask: string;
  answers: readonly string[];
}

export const SUBJECTS = ['Astronomy', 'History of maps', 'Ocean life', 'Early music', 'Rivers and lakes', 'Bridges'];

export const QUESTIONS: readonly Question[] = [
  { ask: 'Which planet is closest to the Sun?', answers: ['Venus', 'Mercury', 'Mars'] },
  { ask: 'Which river flows through Vienna?', answers: ['The Danube', 'The Rhine', 'The Elbe', 'The Seine'] },
  { ask: 'What is a group of whales called?', answers: ['A pod', 'A flock', 'A pack'] },
  { ask: 'Which metal is liquid at room temperature?', answers: ['Iron', 'Mercury', 'Copper', 'Tin'] },
  { ask: 'How many strings has a violin?', answers: ['Three', 'Four', 'Six'] },
  { ask: 'Who drew the first maps of the New World?', answers: ['Cosa', 'Mercator', 'Ptolemy', 'Cabot'] },
  { ask: 'Which gas do plants take in?', answers: ['Oxygen', 'Carbon dioxide', 'Helium'] },
  { ask: 'What carries the weight of an arch?', answers: ['The keystone', 'The mortar', 'The railing'] },
];

export const SHORT_ANSWERS = [
  { ask: 'Name the capital of Portugal.', answer: 'Lisbon' },
  { ask: 'Who painted the Night Watch?', answer: 'Rembrandt' },
  { ask: 'Which language is spoken in Brazil?', answer: 'Portuguese' },
  { ask: 'Name one ocean.', answer: 'Pacific Ocean' },
];

export const ESSAYS = [
  {
    title: 'Why Bridges Sing',
    text: 'Long bridges move with the wind. In Tacoma nobody knew. Now Engineers test each Model first.',
  },
  {
    title: 'Maps of the Coast',
    text: 'Sailors from Genoa drew what they saw. Each Port had a name, each Bay a line of small dots.',
  },
  {
    title: 'Under the Ice',
    text: 'Below the ice of Antarctica lies Lake Vostok. Its water has not seen the Sun for ages.',
  },
  {
    title: 'A Choir at Night',
    text: 'In Vienna the choir sang Bach at night. Anna held the last note, and Peter closed the book.',
  },
  {
    title: 'The Long Canal',
    text: 'From Suez the Ships go south in a row. They wait at Ismailia, where the Lake is wide enough.',
  },
  {
    title: 'Two Clocks',
    text: 'Harrison built a clock for the Navy. It told London time at sea, even near Jamaica.',
  },
  {
    title: 'Seeds and Snow',
    text: 'On Svalbard there is a store of seeds. Syria asked for some of them first, then Others did.',
  },
  {
    title: 'What Owls Hear',
    text: 'An Owl hears a Mouse under the snow. In Finland they hunt so in the dark of December.',
  },
];

export const PARAGRAPHS = [
  'A tide is the slow rise and fall of the sea. It follows the Moon more than the Sun, because the Moon is so much nearer to us.',
  'The first lighthouses burned wood. Later ones burned oil, and their keepers climbed the stairs twice a night to trim the wick.',
  'Rivers move stones by rolling them along their beds. After some hundred kilometres, an edge that could cut is as round as an egg.',
  'A map is a promise about what one will find. Old maps were honest where they were empty, and less so where they were full.',
  'Stone arches stand because each stone wants to fall. The stones press on each other, and nothing is left to move.',
  'Whales talk over great distances. The sound travels in a layer of the sea where it is neither too warm nor too deep.',
  'A violin has no marks that say where the notes are. The hand learns the way in the dark, year after year.',
  'In winter the lake freezes from its edges. In the middle the wind keeps the water moving, often until the new year.',
];

export const THANKS = [
  'Thank you. It has been handed in.',
  'Received. You may close this page.',
  'Done. Have a good day.',
];
