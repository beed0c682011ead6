// The module quamina on rules and events from files; see ../../drivers.py for what is said.
//
// Usage: driver FOLDER BUILD_SECONDS MATCH_SECONDS SAMPLE
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strconv"
	"strings"
	"time"

	"quamina.net/go/quamina"
)

type rule struct {
	ID    int      `json:"id"`
	Rules []string `json:"rules"`
}

type outcome struct {
	Rules   int     `json:"rules"`
	BuildS  float64 `json:"build_s"`
	Events  int     `json:"events"`
	MatchS  float64 `json:"match_s"`
	Answers [][]int `json:"answers"`
	PeakMB  float64 `json:"peak_mb"`
}

func main() {
	folder, buildLimit, matchLimit := os.Args[1], seconds(os.Args[2]), seconds(os.Args[3])
	sample, err := strconv.Atoi(os.Args[4])
	check(err)
	events := lines(folder + "/events.jsonl")
	var rules []rule
	for _, line := range lines(folder + "/rules.jsonl") {
		var one rule
		check(json.Unmarshal(line, &one))
		rules = append(rules, one)
	}

	q, err := quamina.New()
	check(err)
	begun := time.Now()
	result := outcome{Answers: [][]int{}}
	for _, one := range rules {
		for _, pattern := range one.Rules {
			check(q.AddPattern(one.ID, pattern))
		}
		result.Rules++
		if time.Since(begun).Seconds() > buildLimit {
			break
		}
	}
	result.BuildS = time.Since(begun).Seconds()

	begun = time.Now()
	for _, event := range events[:min(sample, len(events))] {
		found, err := q.MatchesForEvent(event)
		check(err)
		ids := []int{}
		for _, x := range found {
			ids = append(ids, x.(int))
		}
		result.Answers = append(result.Answers, ids)
		if time.Since(begun).Seconds() > matchLimit {
			break
		}
	}
	result.Events, result.MatchS = len(result.Answers), time.Since(begun).Seconds()
	if result.MatchS < matchLimit {
		begun, result.Events = time.Now(), 0
		for result.MatchS = 0; result.MatchS <= matchLimit; result.MatchS = time.Since(begun).Seconds() {
			_, err := q.MatchesForEvent(events[result.Events%len(events)])
			check(err)
			result.Events++
		}
	}
	result.PeakMB = peakMB()
	check(json.NewEncoder(os.Stdout).Encode(result))
}

func seconds(text string) float64 {
	found, err := strconv.ParseFloat(text, 64)
	check(err)
	return found
}

func lines(file string) [][]byte {
	content, err := os.ReadFile(file)
	check(err)
	return bytes.Split(bytes.TrimSpace(content), []byte("\n"))
}

func peakMB() float64 {
	status, err := os.Open("/proc/self/status")
	if err != nil {
		return 0
	}
	defer status.Close()
	for scanner := bufio.NewScanner(status); scanner.Scan(); {
		var kilobytes float64
		if strings.HasPrefix(scanner.Text(), "VmHWM:") {
			fmt.Sscanf(scanner.Text(), "VmHWM: %f", &kilobytes)
			return kilobytes * 1024 / 1e6
		}
	}
	return 0
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
