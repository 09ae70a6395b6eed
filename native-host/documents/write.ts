// `npm run docs`: writes the generated parts of docs/.
import { readFile, writeFile } from 'node:fs/promises';
import { PAGES_WITH_PARTS, withParts } from './pages.ts';

for (const name of PAGES_WITH_PARTS) {
  const file = new URL(`../../docs/${name}`, import.meta.url);
  const page = await readFile(file, 'utf8');
  const renewed = withParts(page);
  if (renewed !== page) await writeFile(file, renewed);
  console.log(`docs/${name}${renewed === page ? ' is current' : ' written'}`);
}
