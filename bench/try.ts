import { takeGround } from './ground.ts';
import { getAsset, webhook } from './cases.ts';
const g = await takeGround(500);
if (process.argv[2] === 'get') console.log('get', await getAsset(g, { rounds: 4, seconds: 2 }));
else console.log('webhook', await webhook(g, { rounds: 4, seconds: 2 }));
await g.leave();
