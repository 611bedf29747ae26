import { AppError } from '../../contract/errors.ts'
import { findNamed } from '../../contract/find-named.ts'
import type { DataCommand } from '../command-module.ts'
import { renderCrew } from '../render/crews.ts'

export const crewsShow: DataCommand<'crews show'> = {
  run: async ({ name }, io) => {
    const { crews, problems } = await (await io.offline()).crewsLoad(io.signal)
    const result = findNamed(crews, name)
    if (result.found) return result.found
    const isSkipped = problems.some(({ severity }) => severity === 'error')
    const usual = isSkipped ? 'a file was skipped, see: sm crews check' : 'sm crews list names them'
    const hint = result.near === undefined ? usual : `did you mean ${result.near}?`
    throw new AppError('not_found', `no crew is called ${name}; ${hint}`)
  },
  render: renderCrew,
}
