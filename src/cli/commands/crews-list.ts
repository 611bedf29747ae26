import type { DataCommand } from '../command-module.ts'
import { plural } from '../render/amounts.ts'
import { renderCrewList } from '../render/crews.ts'

export const crewsList: DataCommand<'crews list'> = {
  run: async (_input, io) => {
    const { crews, problems } = await (await io.offline()).crewsLoad(io.signal)
    if (problems.length > 0)
      io.say(`${plural(problems.length, 'problem')} in crew files; see: sm crews check`)
    return crews
  },
  render: renderCrewList,
}
