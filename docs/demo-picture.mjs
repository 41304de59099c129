/**
 * Turns what the demo prints into docs/demo.svg:  node bin/skep.js demo | node docs/demo-picture.mjs > docs/demo.svg
 */
import { text } from 'node:stream/consumers';

const FONT_SIZE = 13;
const LINE_HEIGHT = 18;
const CHARACTER_WIDTH = 7.83;
const MARGIN = 20;
const MAX_CHARACTERS = 118;

const lines = (await text(process.stdin)).trimEnd().split('\n').map(cut);
const width = Math.ceil(MARGIN * 2 + Math.max(...lines.map((line) => line.length)) * CHARACTER_WIDTH);
const height = MARGIN * 2 + lines.length * LINE_HEIGHT;

console.log(`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">
<title>What the demo prints</title>
<rect width="100%" height="100%" rx="8" fill="#16130c"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="${FONT_SIZE}" xml:space="preserve">
${lines.map((line, index) => `<text x="${MARGIN}" y="${MARGIN + FONT_SIZE + index * LINE_HEIGHT}" fill="${colourOf(line)}">${escape(line)}</text>`).join('\n')}
</g>
</svg>`);

function cut(line) {
  return line.length <= MAX_CHARACTERS ? line : `${line.slice(0, MAX_CHARACTERS - 1)}…`;
}

function colourOf(line) {
  if (line.includes('✓')) return '#9ece6a';
  if (/^\d {2}/.test(line)) return '#ffc857';
  if (/ s {2}(owner|guest) /.test(line)) return '#7dcfff';
  if (/ s {2}demo /.test(line)) return '#f7768e';
  return '#d8d2c4';
}

function escape(line) {
  return line.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
