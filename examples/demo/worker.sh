#!/bin/sh
# The demo's worker in shell: runs its own critical section under `lockc run`, again and again.
#   worker.sh NAME KEY FOLDER
set -eu

# Long enough for others to come between the reading and the writing, were there no lock.
critical_section() {
  entered=$(now)
  echo "enter $NAME shell $LOCKC_TOKEN $((entered - ASKED)) $entered" >>log
  read -r value <counter
  value=$((value + 1))
  sleep 0.001
  echo "$value" >"counter.$NAME"
  mv "counter.$NAME" counter
  echo "leave $NAME shell $LOCKC_TOKEN $value $(now)" >>log
}

if [ "$1" = section ]; then
  critical_section
  exit
fi

export NAME="$1" ASKED
folder=$3
worker=$(realpath "$0")
cd "$folder"
stopping=
trap 'stopping=yes' TERM
while [ -z "$stopping" ]; do
  ASKED=$(now)
  lockc run --key "$2" --ttl 1s "$worker" section
done
